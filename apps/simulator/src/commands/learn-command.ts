import { UserError } from "@kubewright/analysis/errors";
import {
  type FromClusterFlags,
  type InputIo,
  type Manifest,
  fromCluster,
  identityOf,
  ioProblem,
  allProblems,
  loadManifests,
} from "@kubewright/analysis/input";
import {
  type MetricsAnswer,
  type Observation,
  learnWorkloads,
  observeMetrics,
  observeObjects,
  workloadsText,
} from "@kubewright/analysis/learn";

import { clusterOptions } from "../options/input-options.js";
import { type Command, type CommandContext, collect } from "../shell/command.js";

export interface LearnFlags extends FromClusterFlags {
  readonly prometheus?: readonly string[];
  readonly output?: string;
}

/** `kubewright learn`: writes a workloads file from finished runs. It only reads from a cluster. */
export const learnCommand: Command<LearnFlags> = {
  argument: [
    "[export...]",
    "files with finished Jobs and their pods, as kubectl get -o yaml prints; - for standard input",
  ],
  options: [
    ["-o, --output <file>", "write the workloads file there (default: to standard output)"],
    [
      "--prometheus <file>",
      "also learn from an answer of Prometheus to a range query of kube_job_status_start_time, kube_job_status_completion_time or kube_job_status_failed",
      collect,
    ],
    ["--from-cluster", "learn from the objects of a live cluster; sends only GET and LIST requests"],
    ...clusterOptions("read"),
  ],
  help: `
Examples:
  $ kubewright learn --from-cluster -A -o workloads.yaml
  $ kubewright run --from-cluster -A --for 7d --workloads workloads.yaml
  $ kubectl get jobs,pods -A -o yaml | kubewright learn -
  $ kubewright learn --prometheus starts.json --prometheus completions.json --prometheus failed.json`,
  run: learn,
};

async function learn({ args: paths, flags, io, outputs, note }: CommandContext<LearnFlags>): Promise<void> {
  const { prometheus = [], output = "-" } = flags;
  if (paths.length === 0 && prometheus.length === 0 && !flags.fromCluster)
    throw new UserError(
      "name what to learn from: kubewright learn --from-cluster, kubewright learn EXPORT…, kubewright learn --prometheus FILE",
    );
  outputs.declare({ "--output": output }, [...paths, ...prometheus]);
  const cluster = await fromCluster(flags, io, { userAgent: "kubewright-learn", readsVersion: false });
  const manifests = [...(cluster?.manifests ?? []), ...(await readExports(paths, io, note))];
  // Of an object that was read twice, the later version counts.
  const objects = new Map(manifests.map(({ object }) => [identityOf(object), object]));
  const observed = observeObjects([...objects.values()]);
  const known = new Set(observed.map(jobKey));
  const ofMetrics = (await readMetrics(prometheus, io)).filter((observation) => !known.has(jobKey(observation)));
  const learned = learnWorkloads([...observed, ...ofMetrics]);
  if (learned.length === 0)
    throw new UserError("nothing to learn from: there is no finished Job, and no ended pod of one");
  await outputs.open();
  await outputs.write("--output", () => workloadsText(learned));
}

function jobKey({ subject: { namespace }, job }: Observation): string {
  return `${namespace}/${job}`;
}

async function readExports(
  paths: readonly string[],
  io: InputIo,
  note: CommandContext<LearnFlags>["note"],
): Promise<readonly Manifest[]> {
  if (paths.length === 0) return [];
  const loaded = await loadManifests(paths, io);
  const { manifests, notes } = loaded;
  note(...notes);
  const problems = allProblems(loaded);
  if (problems.length > 0) throw new UserError(problems.join("\n"));
  return manifests;
}

async function readMetrics(paths: readonly string[], io: Pick<InputIo, "readFile">): Promise<Observation[]> {
  const answers: MetricsAnswer[] = [];
  for (const file of paths) {
    try {
      answers.push({ file, text: await io.readFile(file) });
    } catch (error) {
      throw new UserError(`--prometheus: ${file}: ${ioProblem(error)}`, { cause: error });
    }
  }
  return observeMetrics(answers);
}
