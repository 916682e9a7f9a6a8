/**
 * The schedule text is not valid.
 *
 * The message is exactly the one that Kubernetes puts into events and validation errors (robfig/cron's), for example
 * `expected exactly 5 fields, found 4: [a b c d]`.
 */
export class ScheduleError extends Error {
  override readonly name = "ScheduleError";
}
