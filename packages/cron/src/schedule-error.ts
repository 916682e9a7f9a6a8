/** One of the five fields of a schedule. */
export type FieldName = "minute" | "hour" | "day of month" | "month" | "day of week";

/**
 * The schedule text is not valid.
 *
 * The message is exactly the one that Kubernetes puts into events and validation errors (robfig/cron's), for example
 * `expected exactly 5 fields, found 4: [a b c d]`.
 */
export class ScheduleError extends Error {
  override readonly name = "ScheduleError";
  /** Which field is wrong, which the message does not say. Absent when it is not one field alone. */
  readonly field?: FieldName;

  constructor(message: string, { field, ...options }: ErrorOptions & { readonly field?: FieldName } = {}) {
    super(message, options);
    if (field !== undefined) this.field = field;
  }
}
