import { parseDuration } from "@kubewright/clock";

/** Milliseconds, or text such as `90s`, `10m`, `1d12h`. */
export type DurationLike = number | string;

/**
 * Converts a duration to milliseconds.
 *
 * @param what - Name of the value, for the error.
 * @throws RangeError for an invalid duration.
 */
export function milliseconds(duration: DurationLike, what: string): number {
  const durationMs = typeof duration === "number" ? duration : parseDuration(duration);
  if (durationMs !== undefined && durationMs >= 0 && durationMs < Infinity) return durationMs;
  throw new RangeError(
    `${what}: ${JSON.stringify(duration)} is not a duration; write for example "10m", "1d12h", or 500 (ms)`,
  );
}
