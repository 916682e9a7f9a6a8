import { type VersionBehaviours, newestBehaviours } from "@kubewright/api";

import { type BackoffRecord, nextBackoffRecord } from "./backoff.js";
import { type EndState, deadlineLeftMs, decideEndState, startTimeMs } from "./end-state.js";
import { countIndexes, hasIndex } from "./index-intervals.js";
import { type JobLimits, defaultJobLimits } from "./job-limits.js";
import type { JobReason } from "./job-reason.js";
import { type JobObject, type PodObject, isBeingDeleted, isSuspended } from "./job-spec.js";
import { type ObservedIndexes, observeIndexes } from "./observed-indexes.js";
import { type ObservedPods, observePods } from "./observed-pods.js";
import { comparePodsByAge, completionIndexOf } from "./pod-state.js";
import { type PodPlan, type SyncAction, planPods } from "./plan-pods.js";

/** The input of one sync of a Job. */
export interface JobInput {
  /** An unfinished Job. */
  readonly job: JobObject;
  /** The pods that the Job owns, in any order. */
  readonly pods: readonly PodObject[];
  /** Whether the cache shows all pods created and deleted before. */
  readonly expectationsSatisfied: boolean;
  /** UIDs of pods whose tracking finalizer is being removed, though the cache may still show it. */
  readonly finalizersBeingRemoved: ReadonlySet<string>;
  /** The record of the last sync that wrote the status. */
  readonly backoff: BackoffRecord;
  readonly nowMs: number;
  /** Default: upstream's. */
  readonly limits?: JobLimits | undefined;
  /** Default: those of the newest release. */
  readonly behaviours?: VersionBehaviours | undefined;
}

/** The decision of one sync of a Job: plain data, which a test can compare and the simulator can display. */
export interface JobPlan {
  readonly observed: ObservedPods;
  readonly indexes?: ObservedIndexes | undefined;
  /** Number of pods, or indexes, that have succeeded. */
  readonly succeeded: number;
  /** When the Job became active, in epoch milliseconds. Absent for a Job that was created suspended. */
  readonly startMs?: number | undefined;
  /** The record to store once the status is written. */
  readonly backoff: BackoffRecord;
  /** If set, all active pods are deleted, and no pod is created: see {@link recordsBeforeDeleting}. */
  readonly end?: EndState;
  readonly expectationsSatisfied: boolean;
  /** The pods to create or remove; absent when the sync must not change pods, or the Job ends. */
  readonly pods?: PodPlan;
  readonly action: SyncAction;
  /** Milliseconds until the Job must be synced again, independent of events: its active deadline. */
  readonly deadlineInMs?: number | undefined;
  readonly reasons: readonly JobReason[];
}

/**
 * Returns whether the status records the end before the active pods are deleted: true for a success. Upstream always
 * deletes them first. A sync after a rejection or a crash in between then cannot know why they were deleted: it counts
 * them as failed, and may fail the Job. Pods of a failing Job must be counted as failed.
 */
export function recordsBeforeDeleting({ end }: JobPlan): boolean {
  return end?.type === "SuccessCriteriaMet";
}

/** Decides what the sync does. Upstream: job_controller.go syncJob, up to the first request. */
export function planJob({
  job,
  pods,
  expectationsSatisfied,
  finalizersBeingRemoved,
  backoff: before,
  nowMs,
  limits = defaultJobLimits,
  behaviours = newestBehaviours,
}: JobInput): JobPlan {
  const observed = observePods(job, pods.length < 2 ? pods : [...pods].sort(comparePodsByAge), finalizersBeingRemoved);
  const startMs = startTimeMs(job) ?? (isSuspended(job) ? undefined : nowMs);
  const indexes = observeIndexes(job, observed);
  const backoff = nextBackoffRecord(before, newSuccesses(observed, indexes), observed.newlyFailed);
  const succeeded = indexes === undefined ? observed.succeeded : countIndexes(indexes.succeeded);
  const end = decideEndState({ job, observed, indexes, startMs, nowMs });
  const known = { observed, indexes, succeeded, startMs, backoff, expectationsSatisfied };
  if (end !== undefined) {
    const deleting = observed.active.length;
    return { ...known, end, action: "reconciling", reasons: [{ type: "Ending", end, deleting }] };
  }
  const deadlineInMs = deadlineLeftMs(job, startMs, nowMs);
  if (!expectationsSatisfied || isBeingDeleted(job)) {
    const type = expectationsSatisfied ? "JobBeingDeleted" : "ExpectationsPending";
    return { ...known, deadlineInMs, action: "reconciling", reasons: [{ type }] };
  }
  const podPlan = planPods({ job, observed, indexes, succeeded, backoff, nowMs, limits, behaviours });
  return { ...known, deadlineInMs, pods: podPlan, action: podPlan.action, reasons: podPlan.reasons };
}

/**
 * Returns the newly succeeded pods. An indexed pod may keep its finalizer because the removal was rejected, though its
 * index is already in the set of indexes. Upstream resets the backoff in each sync because of such a pod, also after
 * later failures.
 */
function newSuccesses({ newlySucceeded }: ObservedPods, indexes: ObservedIndexes | undefined): readonly PodObject[] {
  if (indexes === undefined) return newlySucceeded;
  return newlySucceeded.filter((pod) => !hasIndex(indexes.succeededBefore, completionIndexOf(pod)!));
}
