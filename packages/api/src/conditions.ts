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

/** A condition that says how a Job has ended. */
export type FinishedCondition<C extends Condition> = C & { readonly type: "Complete" | "Failed" };

/**
 * The first condition that says how a Job has ended: `Complete` or `Failed` with status `True`. `FailureTarget` and
 * `SuccessCriteriaMet` alone are not the end.
 */
export function finishedCondition<C extends Condition>(job: {
  readonly status?: { readonly conditions?: readonly C[] } | undefined;
}): FinishedCondition<C> | undefined {
  return job.status?.conditions?.find(
    (condition): condition is FinishedCondition<C> =>
      (condition.type === "Complete" || condition.type === "Failed") && condition.status === "True",
  );
}

/** Whether a Job has ended, as {@link finishedCondition} tells. */
export function isJobFinished(job: { readonly status?: { readonly conditions?: readonly Condition[] } }): boolean {
  return finishedCondition(job) !== undefined;
}
