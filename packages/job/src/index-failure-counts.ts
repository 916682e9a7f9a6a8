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

/** How often an index has failed before the pod that carries these numbers in its annotations. */
export interface IndexFailureCounts {
  readonly failures: number;
  /** Failures that the pod failure policy ignored. */
  readonly ignored: number;
}

export function indexFailureCountsOf(pod: PodObject): IndexFailureCounts {
  const annotations = pod.metadata.annotations;
  return {
    failures: parseCount(annotations?.[JOB_INDEX_FAILURE_COUNT_ANNOTATION]),
    ignored: parseCount(annotations?.[JOB_INDEX_IGNORED_FAILURE_COUNT_ANNOTATION]),
  };
}

/** Counted and ignored failures together: what the delay before the next attempt grows with. */
export function absoluteFailureCount(pod: PodObject): number {
  const { failures, ignored } = indexFailureCountsOf(pod);
  return failures + ignored;
}

/** The numbers for the pod that takes the place of a failed one. Upstream: indexed_job_utils.go getNewIndexFailureCounts. */
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
