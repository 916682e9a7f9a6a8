/** One of the five fields of a schedule. */
export type FieldName = "minute" | "hour" | "day of month" | "month" | "day of week";

/**
 * The schedule text is not valid.
 *
 * The message is exactly the one in Kubernetes' events and validation errors (robfig/cron's), for example `expected
 * exactly 5 fields, found 4: [a b c d]`.
 */
export class ScheduleError extends Error {
  override readonly name = "ScheduleError";
  /** The invalid field, which the message does not name. Absent if the error does not concern a single field. */
  readonly field?: FieldName;

  constructor(message: string, { field, ...options }: ErrorOptions & { readonly field?: FieldName } = {}) {
    super(message, options);
    if (field !== undefined) this.field = field;
  }
}
