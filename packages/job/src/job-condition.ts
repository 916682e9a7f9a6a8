import { type DeepReadonly, type JobCondition, formatTime } from "@kubewright/api";

export type JobConditionType = "Suspended" | "Complete" | "Failed" | "FailureTarget" | "SuccessCriteriaMet";

/** Upstream: job_controller.go newCondition. */
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

/**
 * The list with this condition in it: in place of the one of its type, or at the end. A condition that is already so,
 * and a `False` one that never was there, leave the list as it is: then the same array comes back.
 *
 * Upstream: job_controller.go ensureJobConditionStatus.
 */
export function withJobCondition(
  list: readonly DeepReadonly<JobCondition>[],
  condition: JobCondition,
): readonly DeepReadonly<JobCondition>[] {
  const index = list.findIndex(({ type }) => type === condition.type);
  if (index < 0) return condition.status === "False" ? list : [...list, condition];
  const current = list[index]!;
  if (
    current.status === condition.status &&
    current.reason === condition.reason &&
    current.message === condition.message
  )
    return list;
  return list.with(index, condition);
}
