import type { WorkloadEntry } from "@kubewright/simulation";
import { fitDuration } from "./fit-duration.js";
import type { Observation } from "./observation.js";

/** An entry of a workloads file, with the number of its observations. */
export interface LearnedWorkload {
  readonly entry: WorkloadEntry;
  readonly runs: number;
  readonly failed: number;
  /** Number of observed durations. */
  readonly timed: number;
  /** End times of the first and the last run. */
  readonly firstEndMs: number;
  readonly lastEndMs: number;
}

/** Learns the workload of each CronJob and Job, and of each container if there are several, sorted by name. */
export function learnWorkloads(observations: readonly Observation[]): LearnedWorkload[] {
  const ofSubjects = groupBy(observations, ({ subject: { kind, namespace, name } }) => `${namespace}/${name}/${kind}`);
  return ofSubjects.flatMap((ofSubject) => {
    const ofContainers = groupBy(ofSubject, ({ container = "" }) => container);
    const named = ofContainers.filter(([{ container }]) => container !== undefined);
    // Observations of whole Jobs do not describe one of several containers.
    if (named.length > 1) return named.map((runs) => learn(runs, { container: runs[0].container! }));
    return [learn(ofContainers.flat() as unknown as NonEmpty, {})];
  });
}

type NonEmpty = readonly [Observation, ...Observation[]];

function learn(runs: NonEmpty, container: Pick<WorkloadEntry, "container">): LearnedWorkload {
  const failed = runs.filter(({ exitCode }) => exitCode !== 0);
  const succeeded = runs.filter(({ exitCode }) => exitCode === 0);
  // Failures often end early, so successful runs have priority for the duration.
  const durations = [succeeded, failed].map(durationsOf).find(({ length }) => length > 0) ?? [];
  const ends = runs.map(({ endMs }) => endMs);
  return {
    entry: {
      select: runs[0].subject,
      ...container,
      ...(durations.length === 0 ? {} : { duration: fitDuration(durations) }),
      ...(failed.length === 0 ? {} : { exitCode: exitCodesOf(runs) }),
    },
    runs: count(runs),
    failed: count(failed),
    timed: durations.length,
    firstEndMs: ends.reduce((a, b) => Math.min(a, b)),
    lastEndMs: ends.reduce((a, b) => Math.max(a, b)),
  };
}

function count(runs: readonly Observation[]): number {
  return runs.reduce((sum, { times = 1 }) => sum + times, 0);
}

function durationsOf(runs: readonly Observation[]): number[] {
  return runs.map(({ durationMs }) => durationMs).filter((durationMs) => durationMs !== undefined);
}

function exitCodesOf(runs: NonEmpty): NonNullable<WorkloadEntry["exitCode"]> {
  const ofCodes = groupBy(runs, ({ exitCode }) => String(exitCode));
  if (ofCodes.length === 1) return runs[0].exitCode;
  return Object.fromEntries(
    ofCodes.map((ofCode) => [ofCode[0].exitCode, Number((count(ofCode) / count(runs)).toPrecision(3))]),
  );
}

/** Returns groups sorted by key. */
function groupBy(observations: readonly Observation[], keyOf: (observation: Observation) => string): NonEmpty[] {
  const groups = new Map<string, [Observation, ...Observation[]]>();
  for (const observation of observations) {
    const key = keyOf(observation);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [observation]);
    else group.push(observation);
  }
  return [...groups].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, group]) => group);
}
