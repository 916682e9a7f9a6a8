import {
  type ContainerStatus,
  type DeepReadonly,
  type Job,
  type JobCondition,
  type KubernetesObject,
  type Pod,
  type UnstructuredObject,
  finishedCondition,
  parseTime,
} from "@kubewright/api";

import { type Observation, type Subject, subjectNamed } from "./observation.js";

/**
 * Returns the runs of Jobs and their pods: each end of a container, or the counts in the status of a Job without such
 * pods.
 */
export function observeObjects(objects: readonly DeepReadonly<UnstructuredObject>[]): Observation[] {
  const ofKind = <T extends KubernetesObject>(wanted: string): DeepReadonly<T>[] =>
    objects.filter(({ kind }) => kind === wanted) as unknown as DeepReadonly<T>[];
  const jobs = new Map(ofKind<Job>("Job").map((job) => [keyOf(job, job.metadata.name), job]));
  const outdated = outdatedFailures([...jobs.values()]);
  const observedJobs = new Set<string>();
  const ofPods = ofKind<Pod>("Pod").flatMap((pod) => {
    const name = ownerOf(pod, "Job");
    if (name === undefined || wasStopped(pod)) return [];
    const key = keyOf(pod, name);
    const job = jobs.get(key);
    if (job !== undefined && outdated.has(job)) return [];
    const subject = job === undefined ? subjectNamed(namespaceOf(pod), name) : subjectOf(job);
    const ends = containerEnds(pod, subject, name);
    if (ends.length > 0) observedJobs.add(key);
    return ends;
  });
  const rest = [...jobs].filter(([key, job]) => !observedJobs.has(key) && !outdated.has(job));
  return [...ofPods, ...rest.flatMap(([, job]) => jobEnds(job))];
}

/**
 * Returns failed Jobs that ended before the oldest remaining success of their CronJob.
 *
 * The history limits keep a number of each, so rare failures outlive the successes around them and would look frequent.
 */
function outdatedFailures(jobs: readonly DeepReadonly<Job>[]): ReadonlySet<DeepReadonly<Job>> {
  const ofCronJobs = jobs.filter((job) => subjectOf(job).kind === "CronJob");
  const firstSuccess = new Map<string, number>();
  for (const job of ofCronJobs) {
    if (endOf(job)?.type !== "Complete") continue;
    const key = keyOf(job, subjectOf(job).name);
    firstSuccess.set(key, Math.min(firstSuccess.get(key) ?? Infinity, parseTime(job.status?.startTime) ?? Infinity));
  }
  return new Set(
    ofCronJobs.filter((job) => {
      const end = endOf(job);
      const since = firstSuccess.get(keyOf(job, subjectOf(job).name)) ?? -Infinity;
      return end?.type === "Failed" && (parseTime(end.lastTransitionTime) ?? Infinity) < since;
    }),
  );
}

type Terminated = NonNullable<NonNullable<ContainerStatus["state"]>["terminated"]>;

function containerEnds(pod: DeepReadonly<Pod>, subject: Subject, job: string): Observation[] {
  const statuses = listOf(pod.status?.containerStatuses);
  return statuses.flatMap(({ name: container, state, lastState }) =>
    [lastState?.terminated, state?.terminated].flatMap((end) => {
      const endMs = parseTime(end?.finishedAt);
      if (!end || endMs === undefined) return [];
      return [{ subject, job, container, exitCode: exitCodeOf(end), endMs, ...durationOf(end, endMs) }];
    }),
  );
}

/** Windows has larger exit codes, which workloads files do not support. */
function exitCodeOf({ exitCode }: DeepReadonly<Terminated>): number {
  return Number.isInteger(exitCode) && exitCode >= 0 && exitCode <= 255 ? exitCode : 1;
}

function durationOf({ startedAt }: DeepReadonly<Terminated>, endMs: number): Pick<Observation, "durationMs"> {
  const startMs = parseTime(startedAt);
  // A container that could not be started has a start time in 1970.
  return startMs === undefined || startMs <= 0 || startMs > endMs ? {} : { durationMs: endMs - startMs };
}

/** Whether a pod was stopped from outside: its duration and exit code then say nothing about its work. */
function wasStopped({ metadata, status }: DeepReadonly<Pod>): boolean {
  return (
    Boolean(metadata.deletionTimestamp) ||
    listOf(status?.conditions).some(({ type, status: is }) => type === "DisruptionTarget" && is === "True")
  );
}

function jobEnds(job: DeepReadonly<Job>): Observation[] {
  const end = endOf(job);
  const endMs = parseTime(job.status?.completionTime) ?? parseTime(end?.lastTransitionTime);
  if (end === undefined || endMs === undefined) return [];
  const seen = { subject: subjectOf(job), job: job.metadata.name ?? "", endMs };
  const [succeeded, failed] = [countOf(job.status?.succeeded), countOf(job.status?.failed)];
  const isComplete = end.type === "Complete";
  const startMs = parseTime(job.status?.startTime);
  // Only the duration of a Job without retries equals that of its pods.
  const known = isComplete && failed === 0 && startMs !== undefined && startMs <= endMs;
  const timed = known ? { durationMs: (endMs - startMs) / wavesOf(job) } : {};
  const successes = isComplete ? Math.max(succeeded, 1) : succeeded;
  const failures = isComplete ? failed : Math.max(failed, 1);
  return [
    ...(successes > 0 ? [{ ...seen, exitCode: 0, times: successes, ...timed }] : []),
    ...(failures > 0 ? [{ ...seen, exitCode: 1, times: failures }] : []),
  ];
}

function endOf({ status }: DeepReadonly<Job>): DeepReadonly<JobCondition> | undefined {
  return finishedCondition({ status: { conditions: listOf(status?.conditions) } });
}

/** Returns how many times the Job's pods run one after the other. */
function wavesOf({ spec }: DeepReadonly<Job>): number {
  const completions = spec?.completions ?? 1;
  return Math.max(1, Math.ceil(completions / Math.max(1, spec?.parallelism ?? 1)));
}

function subjectOf(job: DeepReadonly<Job>): Subject {
  const cronJob = ownerOf(job, "CronJob");
  const namespace = namespaceOf(job);
  return cronJob === undefined
    ? { kind: "Job", namespace, name: job.metadata.name ?? "" }
    : { kind: "CronJob", namespace, name: cronJob };
}

function ownerOf({ metadata }: DeepReadonly<KubernetesObject>, wanted: string): string | undefined {
  return listOf(metadata.ownerReferences).find(({ kind }) => kind === wanted)?.name;
}

function keyOf(object: DeepReadonly<KubernetesObject>, name: string | undefined): string {
  return `${namespaceOf(object)}/${name}`;
}

function namespaceOf({ metadata }: DeepReadonly<KubernetesObject>): string {
  return metadata.namespace ?? "default";
}

// Files are not validated by an API server: numbers and lists may have other types.

function countOf(value: number | undefined): number {
  return typeof value === "number" && value > 0 ? value : 0;
}

function listOf<T extends object>(value: readonly T[] | undefined): readonly T[] {
  return Array.isArray(value) ? value.filter((item): item is T => typeof item === "object" && item !== null) : [];
}
