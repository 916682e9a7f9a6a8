import {
  type DeepReadonly,
  JOB_INDEX_FAILURE_COUNT_ANNOTATION,
  JOB_INDEX_IGNORED_FAILURE_COUNT_ANNOTATION,
  type PodFailurePolicy,
} from "@kubewright/api";

import { parseDecimal } from "./decimal.js";
import type { PodObject } from "./job-spec.js";
import { matchPodFailurePolicy } from "./pod-failure-policy.js";

const MAX_INT32 = 2 ** 31 - 1;

/** Number of failures of an index before the pod that has these numbers in its annotations. */
export interface IndexFailureCounts {
  readonly failures: number;
  /** Failures ignored by the pod failure policy. */
  readonly ignored: number;
}

export function indexFailureCountsOf(pod: PodObject): IndexFailureCounts {
  const annotations = pod.metadata.annotations;
  return {
    failures: parseCount(annotations?.[JOB_INDEX_FAILURE_COUNT_ANNOTATION]),
    ignored: parseCount(annotations?.[JOB_INDEX_IGNORED_FAILURE_COUNT_ANNOTATION]),
  };
}

/** Returns the sum of counted and ignored failures, which determines the backoff of the index. */
export function absoluteFailureCount(pod: PodObject): number {
  const { failures, ignored } = indexFailureCountsOf(pod);
  return failures + ignored;
}

/** Returns the counts for the replacement of a failed pod. Upstream: indexed_job_utils.go getNewIndexFailureCounts. */
export function nextIndexFailureCounts(
  replaced: PodObject | undefined,
  policy: DeepReadonly<PodFailurePolicy> | undefined,
): IndexFailureCounts {
  if (replaced === undefined) return { failures: 0, ignored: 0 };
  const { failures, ignored } = indexFailureCountsOf(replaced);
  const { counts } = matchPodFailurePolicy(policy, replaced);
  return counts ? { failures: failures + 1, ignored } : { failures, ignored: ignored + 1 };
}

function parseCount(text: string | undefined): number {
  const count = text === undefined ? undefined : parseDecimal(text);
  return count === undefined || count < 0 || count > MAX_INT32 ? 0 : count;
}
