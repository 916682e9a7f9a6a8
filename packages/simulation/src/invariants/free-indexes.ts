import type { JobDecision } from "@kubewright/job";

import { type StoredJobSpec, indexOf, replacesOnlyFailed } from "./job-state.js";

/**
 * Returns the indexes for which a sync may create a pod, lowest first: those without a running pod that have not ended.
 *
 * Upstream: pkg/controller/job/indexed_job_utils.go firstPendingIndexes.
 */
export function freeIndexes(spec: StoredJobSpec, { observed, indexes }: JobDecision["plan"]): readonly number[] {
  const completions = spec.completions ?? 0;
  const taken = new Set<number | undefined>();
  for (const pod of observed.active) taken.add(indexOf(pod, completions));
  if (replacesOnlyFailed(spec)) for (const pod of observed.terminating) taken.add(indexOf(pod, completions));
  for (const { first, last } of [...(indexes?.succeeded ?? []), ...(indexes?.failed ?? [])])
    for (let index = first; index <= Math.min(last, completions - 1); index++) taken.add(index);
  return Array.from({ length: completions }, (_, index) => index).filter((index) => !taken.has(index));
}
