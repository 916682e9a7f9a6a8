import type { VersionBehaviours } from "@kubewright/api";

import { type BackoffRecord, remainingBackoffOfRecordMs } from "./backoff.js";
import { nextIndexFailureCounts } from "./index-failure-counts.js";
import { mergeIndexIntervals } from "./index-intervals.js";
import type { JobLimits } from "./job-limits.js";
import type { JobReason } from "./job-reason.js";
import {
  type JobObject,
  type PodObject,
  backoffLimitPerIndexOf,
  completionsOf,
  indexCount,
  isSuspended,
  parallelismOf,
  replacesOnlyFailedPods,
} from "./job-spec.js";
import { type ObservedIndexes, indexesOf, remainingIndexBackoffMs } from "./observed-indexes.js";
import type { ObservedPods } from "./observed-pods.js";
import { choosePodsToDelete } from "./pods-to-delete.js";
import type { PodToCreate } from "./pod-template.js";

/** The action of a sync, as upstream's metrics label it. */
export type SyncAction = "reconciling" | "tracking" | "pods_created" | "pods_deleted";

/** The changes to a Job's pods, and the reasons. */
export interface PodPlan {
  readonly action: SyncAction;
  readonly create: readonly PodToCreate[];
  /** Pods to remove: their finalizer is removed, so that they never count as failed, and then they are deleted. */
  readonly remove: readonly PodObject[];
  /** Milliseconds until the next sync, because no pod may be created before. */
  readonly retryAfterMs?: number;
  /** The `active` count for the status, if it is not the observed one. */
  readonly reportedActive?: number;
  readonly reasons: readonly JobReason[];
}

export interface PodPlanInput {
  readonly job: JobObject;
  readonly observed: ObservedPods;
  readonly indexes: ObservedIndexes | undefined;
  /** Number of pods, or indexes, that have succeeded. */
  readonly succeeded: number;
  readonly backoff: BackoffRecord;
  readonly nowMs: number;
  readonly limits: JobLimits;
  readonly behaviours: VersionBehaviours;
}

/**
 * Decides which pods to create or delete so that the Job has the wanted number of active pods. One sync never does
 * both.
 *
 * Upstream: job_controller.go manageJob.
 */
export function planPods(input: PodPlanInput): PodPlan {
  const { job, observed, limits } = input;
  const active = observed.active.length;
  if (isSuspended(job)) return removal(observed.active, { type: "Suspended", deleting: active });

  const wanted = wantedActive(job, input.succeeded, active);
  const surplus = Math.max(0, active - wanted);
  const remove = choosePodsToDelete(job, observed.active, surplus).slice(0, limits.maxPodsPerSync);
  if (remove.length > 0) {
    const deleting = remove.length;
    return removal(
      remove,
      surplus > 0 ? { type: "TooManyActive", deleting, active, wanted } : { type: "UselessIndexes", deleting },
    );
  }

  const terminating = replacesOnlyFailedPods(job) ? observed.terminating.length : 0;
  const missing = wanted - terminating - active;
  if (missing <= 0) {
    const reason: JobReason =
      active < wanted ? { type: "Terminating", terminating, wanted } : { type: "EnoughActive", active, wanted };
    return { action: "tracking", create: [], remove: [], reasons: [reason] };
  }
  return planCreation(input, wanted, Math.min(missing, limits.maxPodsPerSync));
}

/** Returns the wanted number of active pods. Without `completions`, no pod is started after the first success. */
function wantedActive(job: JobObject, succeeded: number, active: number): number {
  const completions = completionsOf(job);
  const parallelism = parallelismOf(job);
  if (completions === undefined) return succeeded > 0 ? active : parallelism;
  return Math.max(0, Math.min(parallelism, completions - succeeded));
}

function planCreation(input: PodPlanInput, wanted: number, missing: number): PodPlan {
  const { job, observed, indexes, backoff, nowMs, limits } = input;
  const perIndex = backoffLimitPerIndexOf(job) !== undefined;
  const remainingMs = perIndex ? 0 : remainingBackoffOfRecordMs(backoff, nowMs, limits);
  if (remainingMs > 0)
    return deferral(input, remainingMs, { type: "Backoff", failures: backoff.failuresAfterLastSuccess, remainingMs });

  const creating = (create: readonly PodToCreate[]): PodPlan => {
    const counts = { count: create.length, active: observed.active.length, wanted, failed: observed.failed };
    return {
      action: "pods_created",
      create,
      remove: [],
      reasons: [create.length > 0 ? { type: "Creating", ...counts } : { type: "NoPendingIndex" }],
    };
  };
  if (indexes === undefined) return creating(missing === 1 ? [{}] : Array.from({ length: missing }, () => ({})));

  const pending = firstPendingIndexes(job, observed, indexes, missing);
  if (!perIndex) return creating(pending.map((index) => ({ index })));

  // Only the first `missing` indexes are considered, as upstream: an index in backoff blocks those after it.
  const waitsMs = pending.map((index) =>
    remainingIndexBackoffMs(indexes.awaitingReplacement.get(index), nowMs, limits),
  );
  const due = pending.filter((_, position) => waitsMs[position] === 0);
  if (due.length === 0 && pending.length > 0) {
    const waitMs = Math.min(...waitsMs);
    return deferral(input, waitMs, { type: "IndexBackoff", indexes: pending, remainingMs: waitMs });
  }
  const policy = job.spec?.podFailurePolicy;
  return creating(
    due.map((index) => ({
      index,
      failureCounts: nextIndexFailureCounts(indexes.awaitingReplacement.get(index), policy),
    })),
  );
}

/**
 * Returns the lowest indexes that are not active, succeeded or failed. Upstream: indexed_job_utils.go
 * firstPendingIndexes.
 */
export function firstPendingIndexes(
  job: JobObject,
  observed: ObservedPods,
  indexes: ObservedIndexes,
  count: number,
): number[] {
  const taken = indexesOf(observed.active);
  if (replacesOnlyFailedPods(job)) for (const index of indexesOf(observed.terminating)) taken.add(index);
  const ended = mergeIndexIntervals(indexes.succeeded, indexes.failed ?? []);
  const completions = indexCount(job);
  const result: number[] = [];
  let next = 0;
  for (let index = 0; index < completions && result.length < count; index++) {
    while (next < ended.length && ended[next]!.last < index) next++;
    // Skips whole intervals: a Job may have 100,000 indexes, most of them ended.
    if (next < ended.length && ended[next]!.first <= index) index = ended[next]!.last;
    else if (!taken.has(index)) result.push(index);
  }
  return result;
}

function removal(remove: readonly PodObject[], reason: JobReason): PodPlan {
  return { action: "pods_deleted", create: [], remove, reasons: [reason] };
}

function deferral({ behaviours }: PodPlanInput, retryAfterMs: number, reason: JobReason): PodPlan {
  const reported = behaviours.activePodsDuringBackoff ? {} : { reportedActive: 0 };
  return { action: "pods_created", create: [], remove: [], retryAfterMs, ...reported, reasons: [reason] };
}
