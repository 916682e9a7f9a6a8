import { type ConfigMap, type Job, fnv1a64, formatHash } from "@kubewright/api";
import { stringify } from "yaml";

import { shellWord } from "@kubewright/analysis/input";
import { UserError } from "@kubewright/analysis/errors";
import { pathBelow } from "./recorded-inputs.js";

/** The command that runs a chunk of the seeds. */
export interface ChunkedCommand {
  /** `run` or `fuzz`. */
  readonly name: string;
  /** The seeds as given: `1-10000`. */
  readonly seeds: string;
  /** Arguments that are the same for all chunks, without seeds and outputs. */
  readonly args: readonly string[];
  /** The command that reproduces a finding when its seed is appended. */
  readonly replay: string;
  /** The input files, by path. */
  readonly files: ReadonlyMap<string, string>;
}

export interface JobShape {
  readonly image: string;
  readonly chunks: number;
  /** Threads of a pod, and its CPU request in cores. */
  readonly workers: number;
  /** A folder of the image that has the inputs. Default: a ConfigMap has them. */
  readonly inputs: string | undefined;
  /** The volume to which each chunk writes its complete result. */
  readonly results: ResultsVolume | undefined;
}

export type ResultsVolume =
  { readonly type: "claim"; readonly name: string } | { readonly type: "host"; readonly path: string };

/** Annotations and labels that identify a campaign's objects. */
export const SEEDS_ANNOTATION = "kubewright.dev/seeds";
export const REPLAY_ANNOTATION = "kubewright.dev/replay";
export const CAMPAIGN_LABEL = "kubewright.dev/campaign";

/** The exit status of a chunk with findings, different from that of other failures. */
export const FAIL_EXIT = 42;
const WRONG_INPUT_EXIT = 2;
/** After this number of chunks with findings the Job stops. */
const MAX_FAILED_CHUNKS = 100;
/** A higher parallelism would load the API server, and few clusters have room for it. */
const MAX_PARALLELISM = 100;
/** Maximum size of a ConfigMap's data: a megabyte, less than the limit of the whole object. */
const MAX_INPUT_BYTES = 1000 * 1000;
const INPUTS_FOLDER = "/kubewright";
const RESULTS_FOLDER = "/results";
const CONTAINER = "kubewright";

/**
 * Builds the objects of a campaign: a Job with one index for each chunk, and a ConfigMap with its inputs. Equal
 * campaigns have equal names, so that applying one again continues it.
 *
 * @throws UserError for inputs that do not fit into a ConfigMap.
 */
export function campaignObjects(
  command: ChunkedCommand,
  shape: JobShape,
): { readonly job: Job; readonly inputs: ConfigMap | undefined } {
  const { image, chunks, workers, results } = shape;
  const id = formatHash(fnv1a64(JSON.stringify([command, [...command.files], shape]))).slice(-10);
  const name = `kubewright-${command.name}-${id}`;
  const labels = { "app.kubernetes.io/name": "kubewright", [CAMPAIGN_LABEL]: id };
  const carried = carriedInputs(command.files, shape.inputs);
  const items = carried.map(({ key, path }) => ({ key, path: `inputs/${path}` }));
  const workingDir = shape.inputs ?? (carried.length === 0 ? undefined : `${INPUTS_FOLDER}/inputs`);
  const volumes = [
    ...(carried.length === 0 ? [] : [{ name: "inputs", configMap: { name: `${name}-inputs`, items } }]),
    ...(results === undefined
      ? []
      : [
          results.type === "claim"
            ? { name: "results", persistentVolumeClaim: { claimName: results.name } }
            : { name: "results", hostPath: { path: results.path } },
        ]),
  ];
  const volumeMounts = [
    ...(carried.length === 0 ? [] : [{ name: "inputs", mountPath: INPUTS_FOLDER, readOnly: true }]),
    ...(results === undefined ? [] : [{ name: "results", mountPath: RESULTS_FOLDER }]),
  ];
  const job: Job = {
    apiVersion: "batch/v1",
    kind: "Job",
    metadata: {
      name,
      labels,
      annotations: { [SEEDS_ANNOTATION]: command.seeds, [REPLAY_ANNOTATION]: command.replay },
    },
    spec: {
      completionMode: "Indexed",
      completions: chunks,
      parallelism: Math.min(chunks, MAX_PARALLELISM),
      backoffLimitPerIndex: 2,
      maxFailedIndexes: Math.min(chunks, MAX_FAILED_CHUNKS),
      podReplacementPolicy: "Failed",
      podFailurePolicy: {
        rules: [
          { action: "Ignore", onPodConditions: [{ type: "DisruptionTarget", status: "True" }] },
          { action: "FailIndex", onExitCodes: { containerName: CONTAINER, operator: "In", values: [FAIL_EXIT] } },
          { action: "FailJob", onExitCodes: { containerName: CONTAINER, operator: "In", values: [WRONG_INPUT_EXIT] } },
        ],
      },
      template: {
        metadata: { labels },
        spec: {
          restartPolicy: "Never",
          // The container sends no requests to the API server.
          automountServiceAccountToken: false,
          containers: [
            {
              name: CONTAINER,
              image,
              command: [
                "kubewright",
                command.name,
                ...command.args.map((word) => word.replaceAll("$(", "$$(")),
                `--seeds=${command.seeds}`,
                `--chunk=$(JOB_COMPLETION_INDEX)/${chunks}`,
                `--workers=${workers}`,
                `--fail-exit=${FAIL_EXIT}`,
                "--summary=/dev/termination-log",
                ...(results === undefined ? [] : [`--json=${RESULTS_FOLDER}/${name}-$(JOB_COMPLETION_INDEX).json`]),
              ],
              ...(workingDir === undefined ? {} : { workingDir }),
              terminationMessagePolicy: "FallbackToLogsOnError",
              resources: { requests: { cpu: String(workers), memory: "1Gi" } },
              ...(volumeMounts.length === 0 ? {} : { volumeMounts }),
            },
          ],
          ...(volumes.length === 0 ? {} : { volumes }),
        },
      },
    },
  };
  const inputs: ConfigMap | undefined =
    carried.length === 0
      ? undefined
      : {
          apiVersion: "v1",
          kind: "ConfigMap",
          metadata: { name: `${name}-inputs`, labels },
          data: Object.fromEntries(carried.map(({ key, text }) => [key, text])),
        };
  return { job, inputs };
}

/** Formats the objects as YAML, with instructions. */
export function campaignText(command: ChunkedCommand, shape: JobShape): string {
  const { job, inputs } = campaignObjects(command, shape);
  const { name } = job.metadata;
  const id = job.metadata.labels?.[CAMPAIGN_LABEL];
  const head = [
    `Seeds ${command.seeds} in ${shape.chunks} chunks, of which each is an index of this Job. The image needs the command kubewright.`,
    `Begin, or go on:        kubectl apply -f FILE`,
    `Chunks with findings:   kubectl get job ${name} -o jsonpath='{.status.failedIndexes}'`,
    `What they found:        kubectl get jobs,pods -l ${CAMPAIGN_LABEL}=${id} -o json | kubewright collect -`,
    `Rest, and go on:        kubectl patch job ${name} -p '{"spec":{"suspend":true}}', or false`,
  ].map((line) => `# ${line}\n`);
  const objects = [...(inputs === undefined ? [] : [inputs]), job];
  return (
    head.join("") +
    objects.map((object) => `---\n${stringify(object, { lineWidth: 0, aliasDuplicateObjects: false })}`).join("")
  );
}

/**
 * Returns the inputs with keys for a ConfigMap, which may not contain slashes. @throws UserError for inputs that are
 * too large.
 */
function carriedInputs(
  files: ReadonlyMap<string, string>,
  elsewhere: string | undefined,
): { readonly key: string; readonly path: string; readonly text: string }[] {
  if (elsewhere !== undefined) return [];
  const bytes = [...files.values()].reduce((sum, text) => sum + new TextEncoder().encode(text).length, 0);
  if (bytes > MAX_INPUT_BYTES)
    throw new UserError(
      `--indexed-job: the inputs have ${bytes.toLocaleString("en-US")} bytes, and a ConfigMap takes a million: put them into the image and name their folder with --inputs`,
    );
  return [...files].map(([path, text], index) => ({ key: `input-${index}`, path: pathBelow(path), text }));
}

/** Reads `claim:NAME` and `host:/PATH`. @throws UserError for anything else. */
export function parseResults(text: string | undefined): ResultsVolume | undefined {
  if (text === undefined) return undefined;
  const [, claim] = /^claim:([a-z0-9]([-a-z0-9.]*[a-z0-9])?)$/.exec(text) ?? [];
  if (claim !== undefined) return { type: "claim", name: claim };
  const [, path] = /^host:(\/.*)$/.exec(text) ?? [];
  if (path !== undefined) return { type: "host", path };
  throw new UserError(
    `--results: ${JSON.stringify(text)} is no volume; write claim:NAME for a PersistentVolumeClaim, or host:/PATH for a folder of the nodes`,
  );
}

/** Quotes the arguments for a shell. */
export function commandLine(...args: readonly string[]): string {
  return args.map(shellWord).join(" ");
}
