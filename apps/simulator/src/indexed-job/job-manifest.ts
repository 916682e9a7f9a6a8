import { type ConfigMap, type Job, fnv1a64, formatHash } from "@kubewright/api";
import { stringify } from "yaml";

import { shellWord } from "../input/find-inputs.js";
import { UserError } from "../user-error.js";
import { pathBelow } from "./recorded-inputs.js";

/** What the chunks of a range of seeds are played with. */
export interface ChunkedCommand {
  /** `run` or `fuzz`. */
  readonly name: string;
  /** The seeds, as they are told: `1-10000`. */
  readonly seeds: string;
  /** Words behind the name that are the same for all chunks; no seeds, no outputs. */
  readonly args: readonly string[];
  /** What shows one finding, when its seed is put behind it. */
  readonly replay: string;
  /** The files that it reads, by their paths. */
  readonly files: ReadonlyMap<string, string>;
}

export interface JobShape {
  readonly image: string;
  readonly chunks: number;
  /** Threads of a pod, and cores that it asks for. */
  readonly workers: number;
  /** A folder that the inputs are in already. Default: a ConfigMap carries them. */
  readonly inputs: string | undefined;
  /** Where each chunk leaves its whole result. */
  readonly results: ResultsVolume | undefined;
}

export type ResultsVolume =
  { readonly type: "claim"; readonly name: string } | { readonly type: "host"; readonly path: string };

/** What of a campaign's objects says what they are of. */
export const SEEDS_ANNOTATION = "kubewright.dev/seeds";
export const REPLAY_ANNOTATION = "kubewright.dev/replay";
export const CAMPAIGN_LABEL = "kubewright.dev/campaign";

/** A finding, set apart from whatever else may go wrong with a process. */
export const FAIL_EXIT = 42;
const WRONG_INPUT_EXIT = 2;
/** Who finds in so many chunks need not look on. */
const MAX_FAILED_CHUNKS = 100;
/** More at once is hard on an API server, and seldom there. */
const MAX_PARALLELISM = 100;
/** Of a ConfigMap: a megabyte, less what is around its data. */
const MAX_INPUT_BYTES = 1000 * 1000;
const INPUTS_FOLDER = "/kubewright";
const RESULTS_FOLDER = "/results";
const CONTAINER = "kubewright";

/**
 * The objects of a campaign: a Job with an index for each chunk, and what it reads. Equal campaigns have equal names, so that to
 * apply one again is to go on with it.
 *
 * @throws UserError for inputs that cannot be carried.
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
          // It asks the API server for nothing.
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

/** The same as YAML, with what to do with it. */
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

/** Keys of ConfigMaps have no slashes. @throws UserError */
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

/** The words of a command line as a user would type them. */
export function commandLine(...args: readonly string[]): string {
  return args.map(shellWord).join(" ");
}
