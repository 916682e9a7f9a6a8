import { type DeepReadonly, type JobCondition, findCondition, parseTime } from "@kubewright/api";

import type { Invariant, InvariantChecks } from "../invariant.js";
import { IndexSet } from "./index-set.js";
import { type JobRecord, type PodRecord, isIgnored, jobRecordsOf } from "./job-records.js";
import {
  type StoredJob,
  failuresBefore,
  hasFailed,
  indexOf,
  isIndexed,
  replacesOnlyFailed,
  restartsOf,
} from "./job-state.js";
import { clockMayBeWrong } from "./plan-settings.js";
import { JOBS, JOB_CONTROLLER, PODS, nameOf, uidOf } from "./stored-objects.js";

/** Upstream: pkg/controller/job/job_controller.go syncJob, pod_failure_policy.go, success_policy.go. */
export const terminationReasonsAreTrue: Invariant = {
  name: "S6 termination reasons are true",
  sentence:
    "A Job ends for a reason that its pods and its spec confirm: more failures or restarts than its limit, its " +
    "deadline, a pod that matches a FailJob rule, failed indexes, or enough successes. An index fails only when more " +
    "of its pods have failed than its limit, without ignored failures, or when one matches a FailIndex rule.",
  watch(world, violated): InvariantChecks {
    const records = jobRecordsOf(world);
    const restarts = new MaxRestarts();
    return {
      onChange(change) {
        if (change.resource === PODS) restarts.onPod(records.pods.get(uidOf(change.object)));
        if (change.resource !== JOBS || change.type !== "MODIFIED" || change.request?.component !== JOB_CONTROLLER)
          return;
        const job = records.jobs.get(uidOf(change.object));
        if (job === undefined || job.externallyModified || records.mayReadStaleState) return;
        const refuse = (message: string): void => violated(nameOf(job.object, "Job"), message);
        const before = change.previous!;
        const end = newEnd(change.object, before);
        const isTimeKnown = !clockMayBeWrong(world);
        const wrong = end && reasonProblem(end, { job, before, restarts, nowMs: change.atMs, isTimeKnown });
        const early = failedIndexProblem(job, before);
        if (wrong !== undefined) refuse(`ends with ${end?.reason}, but ${wrong}`);
        else if (early !== undefined) refuse(early);
      },
    };
  },
};

type End = DeepReadonly<JobCondition>;

/** Returns the first condition that decides the end, unless the previous version had one. */
function newEnd(job: StoredJob, previous: StoredJob | undefined): End | undefined {
  const ends = ["FailureTarget", "SuccessCriteriaMet", "Failed", "Complete"];
  const endOf = ({ status }: StoredJob): End | undefined =>
    ends.map((type) => findCondition(status?.conditions, type)).find((condition) => condition?.status === "True");
  return previous !== undefined && endOf(previous) !== undefined ? undefined : endOf(job);
}

/** Maximum observed number of container restarts per pod: a later status may report fewer. */
class MaxRestarts {
  readonly #restarts = new Map<string, number>();

  onPod(pod: PodRecord | undefined): void {
    if (pod?.job === undefined) return;
    const restarts = restartsOf(pod.object);
    if (restarts > this.of(pod)) this.#restarts.set(pod.uid, restarts);
  }

  of({ uid }: PodRecord): number {
    return this.#restarts.get(uid) ?? 0;
  }
}

interface EndContext {
  readonly job: JobRecord;
  /**
   * The version that the writer of the end has read: the API server would have refused the write after another change.
   */
  readonly before: StoredJob;
  readonly restarts: MaxRestarts;
  readonly nowMs: number;
  readonly isTimeKnown: boolean;
}

/** Explains what is missing for the end; `undefined` when nothing is. */
function reasonProblem({ type, reason }: End, known: EndContext): string | undefined {
  if (type === "SuccessCriteriaMet" || type === "Complete")
    return reason === "SuccessPolicy" ? successPolicyProblem(known) : completionProblem(known);
  switch (reason) {
    case "BackoffLimitExceeded":
      return backoffLimitProblem(known);
    case "DeadlineExceeded":
      return deadlineProblem(known);
    case "PodFailurePolicy": {
      const { job } = known;
      const isMatched = job.allPods.some(({ failedAs }) => failedAs.has("FailJob"));
      return isMatched ? undefined : "no failed pod matches a rule with FailJob";
    }
    case "MaxFailedIndexesExceeded": {
      const failed = failedIndexes(known);
      const limits = known.job.specs.map(({ maxFailedIndexes }) => maxFailedIndexes ?? Infinity);
      const min = Math.min(...limits);
      return failed.size > min ? undefined : `${failed.size} indexes have failed, and maxFailedIndexes is ${min}`;
    }
    case "FailedIndexes": {
      const failed = failedIndexes(known);
      if (failed.size === 0) return "no index has failed";
      const { status } = known.job.object;
      const min = fewestCompletions(known.job);
      const ended = new IndexSet(status?.failedIndexes).size + new IndexSet(status?.completedIndexes).size;
      return ended >= min ? undefined : `only ${ended} of ${min} indexes have ended`;
    }
    default:
      return `no Job ends for that`;
  }
}

/** Returns a problem when this write fails an index for good that may be retried. */
function failedIndexProblem(job: JobRecord, before: StoredJob): string | undefined {
  const { spec, status } = job.object;
  if (spec?.backoffLimitPerIndex == null || (status?.failedIndexes ?? "") === (before.status?.failedIndexes ?? ""))
    return undefined;
  // The failure counts of an adopted pod may come from another Job.
  if (job.allPods.some(({ moved, createdBy }) => moved || createdBy === undefined)) return undefined;
  const failures = new Map<number, number>();
  for (const { failedAs, object } of failedPods(job)) {
    const index = indexOf(object);
    if (index === undefined) continue;
    const isLast = failedAs.has("FailIndex");
    failures.set(index, (failures.get(index) ?? 0) + (isLast ? Infinity : 1));
  }
  const limit = spec.backoffLimitPerIndex;
  const known = new IndexSet(before.status?.failedIndexes);
  let wrong: string | undefined;
  new IndexSet(status?.failedIndexes).countBelow(spec.completions ?? 0, (index) => {
    const count = failures.get(index) ?? 0;
    if (known.has(index) || count > limit) return false;
    wrong ??= `gives up index ${index}, of which ${count} pods have failed, and backoffLimitPerIndex is ${limit}`;
    return true;
  });
  return wrong;
}

/** Returns the pods that the Job may count as failed. */
function failedPods(job: JobRecord): PodRecord[] {
  return job.allPods.filter((pod) => {
    const { flipped, everFailed, everTerminating, everCutShort, everSucceeded, object } = pod;
    // A deleted pod counts immediately, regardless of its later phase.
    if (!everFailed && !everCutShort && !(everTerminating && !everSucceeded) && !flipped) return false;
    const spec = job.object.spec!;
    if (replacesOnlyFailed(spec) && !everFailed && !hasFailed(object)) return false;
    return !isIgnored(pod);
  });
}

function backoffLimitProblem({ job, restarts: max }: EndContext): string | undefined {
  const limit = Math.min(...job.specs.map(({ backoffLimit }) => backoffLimit ?? 6));
  const failed = failedPods(job).length;
  if (failed > limit) return undefined;
  if (job.object.spec?.template.spec?.restartPolicy === "OnFailure") {
    let restarts = 0;
    for (const pod of job.allPods) restarts += max.of(pod);
    if (restarts > 0 && restarts >= limit) return undefined;
    return `${failed} pods have failed and ${restarts} containers started again, and backoffLimit is ${limit}`;
  }
  return `${failed} pods have failed, and backoffLimit is ${limit}`;
}

function deadlineProblem({ job, before, nowMs, isTimeKnown }: EndContext): string | undefined {
  const { activeDeadlineSeconds: deadline, suspend } = before.spec ?? {};
  if (deadline == null) return "it has no activeDeadlineSeconds";
  if (suspend === true) return "it is suspended";
  if (!isTimeKnown) return undefined;
  // One write may start the Job and end it.
  const startMs = parseTime(before.status?.startTime ?? job.object.status?.startTime) ?? nowMs;
  const seconds = (nowMs - startMs) / 1000;
  return seconds >= deadline ? undefined : `it is active for ${seconds} s, and may be for ${deadline}`;
}

function failedIndexes({ job }: EndContext): ReadonlySet<number> {
  const limit = Math.min(...job.specs.map(({ backoffLimitPerIndex }) => backoffLimitPerIndex ?? Infinity));
  const attempts = new Map<number, number>();
  const failed = new Set<number>();
  for (const { failedAs, object } of failedPods(job)) {
    const index = indexOf(object);
    if (index === undefined) continue;
    const before = attempts.get(index) ?? 0;
    attempts.set(index, before + 1);
    const isLast = before >= limit || failuresBefore(object)[0] >= limit;
    if (isLast || failedAs.has("FailIndex")) failed.add(index);
  }
  return failed;
}

function completionProblem({ job }: EndContext): string | undefined {
  const { spec } = job.object;
  if (spec === undefined) return undefined;
  const succeeded = job.allPods.filter(({ everSucceeded }) => everSucceeded);
  if (spec.completions == null) return succeeded.length > 0 ? undefined : "no pod has succeeded";
  const min = fewestCompletions(job);
  if (!isIndexed(spec))
    return succeeded.length >= min ? undefined : `${succeeded.length} pods have succeeded of ${min}`;
  const indexes = succeededIndexes(job);
  for (let index = 0; index < min; index++) if (!indexes.has(index)) return `no pod of index ${index} has succeeded`;
  return undefined;
}

function successPolicyProblem({ job }: EndContext): string | undefined {
  const indexes = succeededIndexes(job);
  const isMet = job.specs.some(({ successPolicy, completions }) =>
    successPolicy?.rules.some(({ succeededIndexes: wanted, succeededCount }) => {
      if (wanted == null) return indexes.size >= (succeededCount ?? Infinity);
      const required = new IndexSet(wanted);
      const met = required.countBelow(completions ?? 0, (index) => indexes.has(index));
      return met >= Math.min(succeededCount ?? Infinity, required.sizeBelow(completions ?? 0));
    }),
  );
  return isMet ? undefined : "the indexes that have succeeded meet no rule of successPolicy";
}

function succeededIndexes({ allPods }: JobRecord): ReadonlySet<number> {
  const indexes = new Set<number>();
  for (const { everSucceeded, object } of allPods) {
    const index = everSucceeded ? indexOf(object) : undefined;
    if (index !== undefined) indexes.add(index);
  }
  return indexes;
}

/** Returns the minimum over all specs: the controller's cache may have an older spec than the store. */
function fewestCompletions({ specs }: JobRecord): number {
  return Math.min(...specs.map(({ completions }) => completions ?? 1));
}
