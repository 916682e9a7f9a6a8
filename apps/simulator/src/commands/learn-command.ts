import {
  type FromClusterFlags,
  fromCluster,
  ioProblem,
  loadManifests,
  type Manifest,
  identityOf,
} from "@kubewright/analysis/input";
import type { Io } from "../io/io.js";
import { checkOutputs, openOutput } from "@kubewright/analysis/ports";
import { printable } from "@kubewright/analysis/text";
import { UserError } from "@kubewright/analysis/errors";
import {
  learnWorkloads,
  type Observation,
  type MetricsAnswer,
  observeMetrics,
  observeObjects,
  workloadsText,
} from "@kubewright/analysis/learn";

export interface LearnFlags extends FromClusterFlags {
  readonly prometheus?: readonly string[];
  readonly output?: string;
}

/** `kubewright learn`: writes a workloads file from finished runs. It only reads from a cluster. */
export async function learnCommand(paths: readonly string[], flags: LearnFlags, io: Io): Promise<void> {
  const { prometheus = [], output = "-" } = flags;
  if (paths.length === 0 && prometheus.length === 0 && !flags.fromCluster)
    throw new UserError(
      "name what to learn from: kubewright learn --from-cluster, kubewright learn EXPORT…, kubewright learn --prometheus FILE",
    );
  checkOutputs({ "--output": output }, [...paths, ...prometheus]);
  const cluster = await fromCluster(flags, io, { userAgent: "kubewright-learn", readsVersion: false });
  const manifests = [...(cluster?.manifests ?? []), ...(await readExports(paths, io))];
  // Of an object that was read twice, the later version counts.
  const objects = new Map(manifests.map(({ object }) => [identityOf(object), object]));
  const observed = observeObjects([...objects.values()]);
  const known = new Set(observed.map(jobKey));
  const ofMetrics = (await readMetrics(prometheus, io)).filter((observation) => !known.has(jobKey(observation)));
  const learned = learnWorkloads([...observed, ...ofMetrics]);
  if (learned.length === 0)
    throw new UserError("nothing to learn from: there is no finished Job, and no ended pod of one");
  const text = workloadsText(learned);
  if (output === "-") return io.stdout.write(text);
  const file = await openOutput("--output", output, io);
  await file.write(text);
  await file.close();
}

function jobKey({ subject: { namespace }, job }: Observation): string {
  return `${namespace}/${job}`;
}

async function readExports(paths: readonly string[], io: Io): Promise<readonly Manifest[]> {
  if (paths.length === 0) return [];
  const { manifests, problems, notes } = await loadManifests(paths, io);
  for (const note of notes) io.stderr.write(`kubewright: ${printable(note)}\n`);
  if (problems.length > 0) throw new UserError(problems.join("\n"));
  return manifests;
}

async function readMetrics(paths: readonly string[], io: Io): Promise<Observation[]> {
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
