import type { DeepReadonly, JobSpec } from "@kubewright/api";

import { type IndexIntervals, countCommonIndexes, countIndexes, parseIndexIntervals } from "./index-intervals.js";

type SuccessPolicy = NonNullable<DeepReadonly<JobSpec>["successPolicy"]>;

/**
 * Returns the index of the first rule that the succeeded indexes meet; `undefined` without one.
 *
 * Upstream: success_policy.go matchSuccessPolicy.
 */
export function matchSuccessPolicy(
  policy: SuccessPolicy | undefined,
  completions: number,
  succeeded: IndexIntervals,
): number | undefined {
  if (policy == null || succeeded.length === 0) return undefined;
  const met = (policy.rules ?? []).findIndex(({ succeededIndexes, succeededCount }) => {
    if (succeededIndexes == null) return succeededCount != null && countIndexes(succeeded) >= succeededCount;
    const required = parseIndexIntervals(succeededIndexes, completions);
    if (required.length === 0) return false;
    const common = countCommonIndexes(required, succeeded);
    return common === countIndexes(required) || (succeededCount != null && common >= succeededCount);
  });
  return met < 0 ? undefined : met;
}
