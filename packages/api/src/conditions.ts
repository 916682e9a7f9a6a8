interface Condition {
  readonly type: string;
  readonly status: string;
}

/** The first condition of that type, whatever its status. */
export function findCondition<C extends Condition>(conditions: readonly C[] | undefined, type: string): C | undefined {
  return conditions?.find((condition) => condition.type === type);
}

/** Whether some condition of that type has status `True`. */
export function isConditionTrue(conditions: readonly Condition[] | undefined, type: string): boolean {
  return conditions?.some((condition) => condition.type === type && condition.status === "True") ?? false;
}

/** Whether a Job has ended: `Complete` or `Failed` is `True`. `FailureTarget` and `SuccessCriteriaMet` alone are not the end. */
export function isJobFinished(job: { readonly status?: { readonly conditions?: readonly Condition[] } }): boolean {
  const conditions = job.status?.conditions;
  return isConditionTrue(conditions, "Complete") || isConditionTrue(conditions, "Failed");
}
