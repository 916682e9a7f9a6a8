import { remainingBackoffMs } from "./backoff.js";
import { absoluteFailureCount, indexFailureCountsOf } from "./index-failure-counts.js";
import {
  type IndexIntervals,
  hasIndex,
  indexIntervalsOf,
  mergeIndexIntervals,
  parseIndexIntervals,
} from "./index-intervals.js";
import type { JobLimits } from "./job-limits.js";
import {
  type JobObject,
  type PodObject,
  backoffLimitPerIndexOf,
  indexCount,
  isIndexed,
  replacesOnlyFailedPods,
} from "./job-spec.js";
import type { ObservedPods } from "./observed-pods.js";
import { matchPodFailurePolicy } from "./pod-failure-policy.js";
import { podFinishTimeMs } from "./pod-finish-time.js";
import { completionIndexOf, hasTrackingFinalizer, isPodFailed, isPodSucceeded, validIndexOf } from "./pod-state.js";

/** State of the indexes of an indexed Job. */
export interface ObservedIndexes {
  /** Succeeded indexes in the stored status, cut to the current number of completions. */
  readonly succeededBefore: IndexIntervals;
  /** Succeeded indexes including those of pods that succeeded since. */
  readonly succeeded: IndexIntervals;
  /** Indexes that will not be retried; absent without `backoffLimitPerIndex`. */
  readonly failed?: IndexIntervals;
  /**
   * With `backoffLimitPerIndex`: the failed pod of each index that waits for its replacement. Its annotations are the
   * only record of the index's failures. Therefore it keeps its finalizer and stays uncounted until its replacement has
   * the annotations.
   */
  readonly awaitingReplacement: ReadonlyMap<number, PodObject>;
}

/**
 * Computes the succeeded and failed indexes. No index is in both sets: the status takes precedence, and an index that
 * has both succeeded and failed since has succeeded. Upstream adds such an index to both sets, which the API server
 * rejects at each retry.
 *
 * @returns `undefined` for a Job without indexes.
 */
export function observeIndexes(job: JobObject, observed: ObservedPods): ObservedIndexes | undefined {
  if (!isIndexed(job)) return undefined;
  const completions = indexCount(job);
  const succeededBefore = parseIndexIntervals(job.status?.completedIndexes, completions);
  const limit = backoffLimitPerIndexOf(job);
  const failedBefore = limit === undefined ? [] : parseIndexIntervals(job.status?.failedIndexes, completions);
  const succeeded = withIndexes(succeededBefore, succeededIndexes(observed.pods, completions), failedBefore);
  if (limit === undefined) return { succeededBefore, succeeded, awaitingReplacement: new Map() };
  const failed = withIndexes(failedBefore, failedIndexes(job, observed.pods, completions, limit), succeeded);
  return {
    succeededBefore,
    succeeded,
    failed,
    awaitingReplacement: podsAwaitingReplacement(job, observed, { completions, succeeded, failed }),
  };
}

/** Adds indexes to a set, except those in another set. */
function withIndexes(set: IndexIntervals, indexes: ReadonlySet<number>, other: IndexIntervals): IndexIntervals {
  const added = other.length === 0 ? indexes : [...indexes].filter((index) => !hasIndex(other, index));
  return mergeIndexIntervals(set, indexIntervalsOf(added));
}

/** Upstream: indexed_job_utils.go calculateSucceededIndexes. */
function succeededIndexes(pods: readonly PodObject[], completions: number): ReadonlySet<number> {
  const indexes = new Set<number>();
  for (const pod of pods) {
    if (!isPodSucceeded(pod) || !hasTrackingFinalizer(pod)) continue;
    const index = validIndexOf(pod, completions);
    if (index !== undefined) indexes.add(index);
  }
  return indexes;
}

/** Upstream: indexed_job_utils.go calculateFailedIndexes, isIndexFailed. */
function failedIndexes(
  job: JobObject,
  pods: readonly PodObject[],
  completions: number,
  limit: number,
): ReadonlySet<number> {
  const onlyReplaceFailed = replacesOnlyFailedPods(job);
  const indexes = new Set<number>();
  for (const pod of pods) {
    if (!isPodFailed(pod, onlyReplaceFailed) || !hasTrackingFinalizer(pod)) continue;
    const index = validIndexOf(pod, completions);
    if (index === undefined) continue;
    const { action, counts } = matchPodFailurePolicy(job.spec?.podFailurePolicy, pod);
    if (action === "FailIndex" || (counts && indexFailureCountsOf(pod).failures >= limit)) indexes.add(index);
  }
  return indexes;
}

/** Upstream: indexed_job_utils.go getPodsWithDelayedDeletionPerIndex. */
function podsAwaitingReplacement(
  job: JobObject,
  { active, tracked }: ObservedPods,
  { completions, succeeded, failed }: { completions: number; succeeded: IndexIntervals; failed: IndexIntervals },
): ReadonlyMap<number, PodObject> {
  const onlyReplaceFailed = replacesOnlyFailedPods(job);
  const activeIndexes = indexesOf(active);
  const newestByIndex = new Map<number, PodObject>();
  for (const pod of tracked) {
    if (!isPodFailed(pod, onlyReplaceFailed)) continue;
    const index = validIndexOf(pod, completions);
    if (index === undefined || activeIndexes.has(index) || hasIndex(succeeded, index) || hasIndex(failed, index))
      continue;
    const other = newestByIndex.get(index);
    const newer =
      other === undefined ||
      (absoluteFailureCount(other) <= absoluteFailureCount(pod) && podFinishTimeMs(pod) >= podFinishTimeMs(other));
    if (newer) newestByIndex.set(index, pod);
  }
  return newestByIndex;
}

/** Returns the completion indexes of the pods, in range or not. */
export function indexesOf(pods: readonly PodObject[]): Set<number> {
  const indexes = new Set<number>();
  for (const pod of pods) {
    const index = completionIndexOf(pod);
    if (index !== undefined) indexes.add(index);
  }
  return indexes;
}

/** Returns the remaining backoff of a failed pod's index. Upstream: backoff_utils.go getRemainingTimePerIndex. */
export function remainingIndexBackoffMs(failed: PodObject | undefined, nowMs: number, limits: JobLimits): number {
  return failed === undefined
    ? 0
    : remainingBackoffMs(absoluteFailureCount(failed) + 1, podFinishTimeMs(failed), nowMs, limits);
}
