import { type DeepReadonly, type JobCondition, formatTime } from "@kubewright/api";

export type JobConditionType = "Suspended" | "Complete" | "Failed" | "FailureTarget" | "SuccessCriteriaMet";

/** Creates a condition. Upstream: job_controller.go newCondition. */
export function newJobCondition(
  type: JobConditionType,
  status: "True" | "False",
  reason: string,
  message: string,
  nowMs: number,
): JobCondition {
  const now = formatTime(nowMs);
  return { type, status, lastProbeTime: now, lastTransitionTime: now, reason, message };
}

/** A list of conditions, and whether it differs from the original list. */
export interface ChangedConditions {
  readonly conditions: readonly DeepReadonly<JobCondition>[];
  readonly changed: boolean;
}

/**
 * Returns the list with this condition, which replaces the condition of its type or is appended. An equal condition
 * changes nothing, and neither does a `False` condition of a type that is not in the list.
 *
 * Upstream: job_controller.go ensureJobConditionStatus.
 */
export function withJobCondition(
  list: readonly DeepReadonly<JobCondition>[],
  condition: JobCondition,
): ChangedConditions {
  const index = list.findIndex(({ type }) => type === condition.type);
  if (index < 0) {
    const changed = condition.status !== "False";
    return { conditions: changed ? [...list, condition] : list, changed };
  }
  const { status, reason, message } = list[index]!;
  const changed = status !== condition.status || reason !== condition.reason || message !== condition.message;
  return { conditions: changed ? list.with(index, condition) : list, changed };
}
