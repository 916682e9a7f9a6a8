interface Condition {
  readonly type: string;
  readonly status: string;
}

/** Returns the first condition of the given type, with any status. */
export function findCondition<C extends Condition>(conditions: readonly C[] | undefined, type: string): C | undefined {
  return conditions?.find((condition) => condition.type === type);
}

/** Whether a condition of the given type has status `True`. */
export function isConditionTrue(conditions: readonly Condition[] | undefined, type: string): boolean {
  return conditions?.some((condition) => condition.type === type && condition.status === "True") ?? false;
}

/** A condition that marks a Job as finished. */
export type FinishedCondition<C extends Condition> = C & { readonly type: "Complete" | "Failed" };

/**
 * Returns the first condition that marks a Job as finished: `Complete` or `Failed` with status `True`. `FailureTarget`
 * and `SuccessCriteriaMet` alone do not finish a Job.
 */
export function finishedCondition<C extends Condition>(job: {
  readonly status?: { readonly conditions?: readonly C[] } | undefined;
}): FinishedCondition<C> | undefined {
  return job.status?.conditions?.find(
    (condition): condition is FinishedCondition<C> =>
      (condition.type === "Complete" || condition.type === "Failed") && condition.status === "True",
  );
}

/** Whether a Job has a {@link finishedCondition}. */
export function isJobFinished(job: { readonly status?: { readonly conditions?: readonly Condition[] } }): boolean {
  return finishedCondition(job) !== undefined;
}
