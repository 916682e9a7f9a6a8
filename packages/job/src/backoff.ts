import { type JobLimits, defaultJobLimits } from "./job-limits.js";
import type { PodObject } from "./job-spec.js";
import { podFinishTimeMs } from "./pod-finish-time.js";

/** What the controller remembers of a Job's recent failures, in memory only. */
export interface BackoffRecord {
  readonly failuresAfterLastSuccess: number;
  /** When the last of them ended; absent when there are none. */
  readonly lastFailureMs?: number;
}

export const NO_BACKOFF: BackoffRecord = { failuresAfterLastSuccess: 0 };

/**
 * The record after pods have ended: failures add up, a success starts over with those that ended strictly after it.
 *
 * Failures that a pod failure policy ignores are in `failed` too: they do not count, but they do delay.
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
 * How long to wait before a failed pod is replaced: 10 s, doubled with each further failure up to 10 min, counted from
 * the moment the last one ended. Longer when that moment is in the future, as skewed clocks make it.
 *
 * @returns Milliseconds left, never negative.
 * Upstream: backoff_utils.go getRemainingTimeForFailuresCount.
 */
export function remainingBackoffMs(
  failures: number,
  lastFailureMs: number,
  nowMs: number,
  { podBackoffBaseMs, podBackoffMaxMs }: JobLimits = defaultJobLimits,
): number {
  if (failures <= 0) return 0;
  // 2^n must stay a number.
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
