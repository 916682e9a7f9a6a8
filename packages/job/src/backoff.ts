import { type JobLimits, defaultJobLimits } from "./job-limits.js";
import type { PodObject } from "./job-spec.js";
import { podFinishTimeMs } from "./pod-finish-time.js";

/** Recent failures of a Job, in memory only. */
export interface BackoffRecord {
  readonly failuresAfterLastSuccess: number;
  /** When the last of these pods ended; absent without failures. */
  readonly lastFailureMs?: number;
}

export const NO_BACKOFF: BackoffRecord = { failuresAfterLastSuccess: 0 };

/**
 * Returns the record after pods have ended. Failures accumulate. A success resets the record to the failures that ended
 * strictly after it.
 *
 * `failed` includes failures that a pod failure policy ignores: they are not counted, but they cause a delay.
 *
 * Upstream: backoff_utils.go newBackoffRecord.
 */
export function nextBackoffRecord(
  record: BackoffRecord,
  succeeded: readonly PodObject[],
  failed: readonly PodObject[],
): BackoffRecord {
  if (succeeded.length === 0 && failed.length === 0) return record;
  const lastSuccessMs = latestFinishMs(succeeded);
  const counted = lastSuccessMs === undefined ? failed : failed.filter((pod) => podFinishTimeMs(pod) > lastSuccessMs);
  const lastFailureMs = latestFinishMs(counted);
  if (lastFailureMs === undefined) return NO_BACKOFF;
  const earlier = lastSuccessMs === undefined ? record.failuresAfterLastSuccess : 0;
  return { failuresAfterLastSuccess: earlier + counted.length, lastFailureMs };
}

/**
 * Returns the delay before a failed pod is replaced: 10 s, doubled with each further failure up to 10 min, measured
 * from the end of the last failed pod. It is longer if that end is in the future because of clock skew.
 *
 * @returns Remaining milliseconds, never negative. Upstream: backoff_utils.go getRemainingTimeForFailuresCount.
 */
export function remainingBackoffMs(
  failures: number,
  lastFailureMs: number,
  nowMs: number,
  { podBackoffBaseMs, podBackoffMaxMs }: JobLimits = defaultJobLimits,
): number {
  if (failures <= 0) return 0;
  // Keeps 2^n finite.
  const delayMs = Math.min(podBackoffBaseMs * 2 ** Math.min(failures - 1, 60), podBackoffMaxMs);
  return Math.max(0, delayMs - (nowMs - lastFailureMs));
}

export function remainingBackoffOfRecordMs(
  { failuresAfterLastSuccess, lastFailureMs }: BackoffRecord,
  nowMs: number,
  limits: JobLimits = defaultJobLimits,
): number {
  return lastFailureMs === undefined ? 0 : remainingBackoffMs(failuresAfterLastSuccess, lastFailureMs, nowMs, limits);
}

function latestFinishMs(pods: readonly PodObject[]): number | undefined {
  let latestMs: number | undefined;
  for (const pod of pods) {
    const finishMs = podFinishTimeMs(pod);
    if (latestMs === undefined || finishMs > latestMs) latestMs = finishMs;
  }
  return latestMs;
}
