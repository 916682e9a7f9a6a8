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

/** All that one sync of a Job knows. */
export interface JobInput {
  /** Not finished. */
  readonly job: JobObject;
  /** Those that the Job owns, in any order. */
  readonly pods: readonly PodObject[];
  /** Whether the cache shows all pods created and deleted before. */
  readonly expectationsSatisfied: boolean;
  /** UIDs of pods whose tracking finalizer is being removed, though the cache may still show it. */
  readonly finalizersBeingRemoved: ReadonlySet<string>;
  /** As of the last sync that wrote the status. */
  readonly backoff: BackoffRecord;
  readonly nowMs: number;
  /** Default: upstream's. */
  readonly limits?: JobLimits | undefined;
  /** Default: those of the newest release. */
  readonly behaviours?: VersionBehaviours | undefined;
}

/** What one sync of a Job decided: plain data, so a test can compare it and the simulator can show it. */
export interface JobPlan {
  readonly observed: ObservedPods;
  readonly indexes?: ObservedIndexes | undefined;
  /** Pods, or indexes, that have succeeded. */
  readonly succeeded: number;
  /** When the Job began to be active, in epoch milliseconds. Absent for one that is suspended from the start. */
  readonly startMs?: number | undefined;
  /** To be remembered once the status is written. */
  readonly backoff: BackoffRecord;
  /** If set, active pods are deleted, all of them, and nothing else is done about pods: see {@link recordsBeforeDeleting}. */
  readonly end?: EndState;
  readonly expectationsSatisfied: boolean;
  /** What to create or remove; absent when pods must be left alone, or the Job ends. */
  readonly pods?: PodPlan;
  readonly action: SyncAction;
  /** When the Job has to be looked at again, whatever happens until then: its deadline. */
  readonly deadlineInMs?: number | undefined;
  readonly reasons: readonly JobReason[];
}

/**
 * Whether the status says how the Job ends before its active pods are deleted for it: when it has succeeded. Upstream
 * deletes them first, whatever the end. Whoever goes on after a refusal, or after a controller that has died in between,
 * cannot tell then why they were deleted: it counts them as failed, and may fail the Job for them. Pods of a Job that
 * fails are to be counted as failed.
 */
export function recordsBeforeDeleting({ end }: JobPlan): boolean {
  return end?.type === "SuccessCriteriaMet";
}

/** Decides. Upstream: job_controller.go syncJob, up to the first request. */
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
 * Pods whose success is news. What of an indexed Job keeps its finalizer, which may be refused to be removed, is in the set of
 * indexes from then on: upstream has each sync start the back-off over because of it, also after later failures.
 */
function newSuccesses({ newlySucceeded }: ObservedPods, indexes: ObservedIndexes | undefined): readonly PodObject[] {
  if (indexes === undefined) return newlySucceeded;
  return newlySucceeded.filter((pod) => !hasIndex(indexes.succeededBefore, completionIndexOf(pod)!));
}
