import { parseDuration } from "@kubewright/clock";

/** Milliseconds, or text such as `90s`, `10m`, `1d12h`. */
export type Duration = number | string;

/** @param what - Whose it is, for the error. @throws RangeError for what is no duration. */
export function milliseconds(duration: Duration, what: string): number {
  const durationMs = typeof duration === "number" ? duration : parseDuration(duration);
  if (durationMs !== undefined && durationMs >= 0 && durationMs < Infinity) return durationMs;
  throw new RangeError(
    `${what}: ${JSON.stringify(duration)} is not a duration; write for example "10m", "1d12h", or 500 (ms)`,
  );
}
