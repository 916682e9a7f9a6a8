import { InterruptedError, UserError } from "@kubewright/analysis/errors";
import {
  type InputIo,
  type SimulatedVersion,
  loadAllManifests,
  parseKubernetesVersion,
  parseStart,
  readServerVersion,
} from "@kubewright/analysis/input";
import { connectThrough } from "@kubewright/analysis/ports";
import {
  type CronJobExplanation,
  type EditExplanation,
  type JobExplanation,
  ClusterReader,
  cronJobText,
  editText,
  explainCronJob,
  explainEdit,
  explainJob,
  explanationJson,
  jobText,
} from "@kubewright/analysis/why";
import type { CronJob, DeepReadonly } from "@kubewright/api";
import { realClock } from "@kubewright/clock";

import { parseOutputFormat } from "../options/output-format.js";
import type { Command, CommandContext, CommandResult } from "../shell/command.js";

export interface WhyFlags {
  readonly namespace?: string;
  readonly filename?: string;
  readonly kubeconfig?: string;
  readonly context?: string;
  readonly at?: string;
  readonly kubernetes?: string;
  readonly output: string;
}

interface Target {
  readonly kind: "CronJob" | "Job";
  readonly name: string;
}

/** Output of the command. For a CronJob that a file would create it has only the edit. */
interface Answer {
  readonly explanation?: CronJobExplanation | JobExplanation;
  readonly edit?: EditExplanation;
}

/** Returns the time to explain, after all objects are read. */
type Now = () => number;

/** `kubewright why`: explains a CronJob or a Job of a live cluster. Sends only read requests. */
export const whyCommand: Command<WhyFlags> = {
  argument: ["<object>", "cronjob/NAME or job/NAME"],
  options: [
    ["-n, --namespace <namespace>", "its namespace (default: that of the kubeconfig's context)"],
    ["-f, --filename <file>", "also explain what this changed manifest of the CronJob would do if it were applied"],
    ["--kubeconfig <file>", "how to reach the cluster (default: KUBECONFIG, or ~/.kube/config)"],
    ["--context <name>", "context of the kubeconfig (default: the current one)"],
    ["--kubernetes <version>", "release of Kubernetes whose Job controller to explain (default: the server's)"],
    ["--at <time>", "explain as of this time (default: now, by the server's clock)"],
    ["-o, --output <format>", "text, or json for scripts", "text"],
  ],
  help: `
GET and LIST requests only: the rights of the ClusterRole view are enough.

Examples:
  $ kubewright why cronjob/report -n billing
  $ kubewright why job/report-29540760 -n billing -o json
  $ kubewright why job/report-29540760 --kubernetes 1.36
  $ kubewright why cronjob/report -f report-new-schedule.yaml`,
  run: why,
};

async function why({ args: [target = ""], flags, io, format }: CommandContext<WhyFlags>): Promise<CommandResult> {
  const { kind, name } = parseTarget(target);
  const outputFormat = parseOutputFormat(flags.output);

  const atMs = flags.at === undefined ? undefined : parseStart(flags.at, "--at");
  const chosen = flags.kubernetes === undefined ? undefined : parseKubernetesVersion(flags.kubernetes);
  if (kind === "Job" && flags.filename !== undefined)
    throw new UserError("-f: only the schedule of a CronJob can be tried, a Job's spec is fixed once it is created");
  const file = flags.filename === undefined ? undefined : await readCronJob(flags.filename, name, io);
  const { kubeconfig, context } = flags;
  const connection = await connectThrough(io, { kubeconfig, context, userAgent: "kubewright-why" });
  let answer: Answer;
  try {
    const namespace = flags.namespace ?? file?.metadata.namespace ?? connection.namespace;
    if (file?.metadata.namespace !== undefined && file.metadata.namespace !== namespace)
      throw new UserError(
        `-f ${flags.filename}: its CronJob is in namespace ${file.metadata.namespace}, not ${namespace}`,
      );
    const reader = new ClusterReader(connection.client, { namespace, signal: io.stopped });
    const now: Now = () => atMs ?? connection.serverTimeMs() ?? realClock.now();
    // The CronJob controller is the same in all releases.
    answer =
      kind === "Job"
        ? await whyJob(reader, name, now, chosen ?? (await readServerVersion(connection.client, io.stopped)))
        : await whyCronJob(reader, name, now, file, namespace);
  } catch (error) {
    if (io.stopped.aborted) throw new InterruptedError("stopped before the cluster had answered");
    throw error;
  } finally {
    await connection.close();
  }
  return { text: outputFormat === "json" ? explanationJson(answer) : answerText(answer, format) };
}

async function whyJob(reader: ClusterReader, name: string, now: Now, kubernetes: SimulatedVersion): Promise<Answer> {
  const job = await reader.job(name);
  const pods = await reader.podsOf(job);
  const events = await reader.eventsOfJob(job, pods ?? []);
  return { explanation: explainJob({ job, pods, events, nowMs: now(), kubernetes }) };
}

async function whyCronJob(
  reader: ClusterReader,
  name: string,
  now: Now,
  file: DeepReadonly<CronJob> | undefined,
  namespace: string,
): Promise<Answer> {
  const cronJob = file === undefined ? await reader.cronJob(name) : await reader.cronJobIfAny(name);
  const jobs = await reader.jobs();
  if (cronJob === undefined) {
    const changed = { ...file!, metadata: { ...file!.metadata, namespace } };
    return { edit: explainEdit({ changed, jobs, nowMs: now() }) };
  }
  const events = await reader.eventsOf(cronJob);
  const nowMs = now();
  const explanation = explainCronJob({ cronJob, jobs, events, nowMs });
  return file === undefined
    ? { explanation }
    : { explanation, edit: explainEdit({ stored: cronJob, changed: file, jobs, nowMs }) };
}

function answerText({ explanation, edit }: Answer, options: CommandContext<WhyFlags>["format"]): string {
  const parts: string[] = [];
  if (explanation !== undefined)
    parts.push(explanation.kind === "CronJob" ? cronJobText(explanation, options) : jobText(explanation, options));
  if (edit !== undefined) parts.push(editText(edit, options));
  return parts.join("\n");
}

const KINDS: Readonly<Record<string, Target["kind"]>> = {
  cronjob: "CronJob",
  cronjobs: "CronJob",
  cj: "CronJob",
  "cronjob.batch": "CronJob",
  "cronjobs.batch": "CronJob",
  job: "Job",
  jobs: "Job",
  "job.batch": "Job",
  "jobs.batch": "Job",
};

/** @throws UserError for anything except `cronjob/NAME` and `job/NAME`. */
function parseTarget(text: string): Target {
  const [prefix = "", name = "", ...rest] = text.split("/");
  const kind = Object.hasOwn(KINDS, prefix.toLowerCase()) ? KINDS[prefix.toLowerCase()] : undefined;
  if (kind === undefined || rest.length > 0 || !/^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/.test(name))
    throw new UserError(`${JSON.stringify(text)} names nothing to explain; write cronjob/NAME or job/NAME`);
  return { kind, name };
}

/** Returns the CronJob with that name in a manifest file. */
async function readCronJob(path: string, name: string, io: InputIo): Promise<DeepReadonly<CronJob>> {
  const manifests = await loadAllManifests([path], io);
  const found = manifests.filter(
    ({ object }) => object.kind === "CronJob" && object.apiVersion === "batch/v1" && object.metadata.name === name,
  );
  if (found.length === 1) {
    const { object, source } = found[0]!;
    const spec = object["spec"];
    const isSpec = typeof spec === "object" && spec !== null && !Array.isArray(spec);
    if (!isSpec || typeof (spec as Record<string, unknown>)["schedule"] !== "string")
      throw new UserError(`${source}: spec.schedule is missing or no text`);
    return object as unknown as CronJob;
  }
  const what = found.length === 0 ? "has no CronJob (batch/v1)" : `has ${found.length} CronJobs`;
  throw new UserError(`-f ${path}: it ${what} named ${name}`);
}
