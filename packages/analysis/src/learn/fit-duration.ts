/** Minimum number of observations for a fit; fewer only give a range. */
const FEWEST_TO_FIT = 8;
/** A run that starts and ends in the same second, the API's resolution, took half a second on average. */
const SHORTEST_MS = 500;
const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;

/**
 * Fits a duration to observations, in the format of workloads files.
 *
 * The result is the value itself when all are equal, and the range of up to seven observations. With more observations
 * it is a lognormal or normal distribution, whichever has the higher likelihood, limited to the observed range.
 *
 * @param durationsMs - Milliseconds; at least one.
 */
export function fitDuration(durationsMs: readonly number[]): string {
  const lengths = durationsMs.map((durationMs) => Math.max(durationMs, SHORTEST_MS));
  const min = lengths.reduce((a, b) => Math.min(a, b));
  const max = lengths.reduce((a, b) => Math.max(a, b));
  if (min === max) return durationText(min);
  const range = `${durationText(min)}..${durationText(max)}`;
  if (lengths.length < FEWEST_TO_FIT) return range;
  const plain = momentsOf(lengths);
  const logs = momentsOf(lengths.map(Math.log));
  // Compares the log-likelihoods per observation, without their common terms.
  const isNormal = -Math.log(plain.deviation) > -Math.log(logs.deviation) - logs.mean;
  return isNormal
    ? `normal(${durationText(plain.mean)}, ${durationText(plain.deviation)}) in ${range}`
    : `lognormal(${durationText(Math.exp(logs.mean))}, ${Number(logs.deviation.toFixed(3))}) in ${range}`;
}

function momentsOf(values: readonly number[]): { readonly mean: number; readonly deviation: number } {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  const variance = values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / values.length;
  return { mean, deviation: Math.sqrt(variance) };
}

/** Formats a Go duration, `1h5m`: rounded to a second from a minute on, below that to a millisecond. */
function durationText(durationMs: number): string {
  if (durationMs < MINUTE_MS) return `${Math.round(durationMs) / 1000}s`;
  const wholeMs = Math.round(durationMs / 1000) * 1000;
  const parts = [
    [Math.floor(wholeMs / HOUR_MS), "h"],
    [Math.floor((wholeMs % HOUR_MS) / MINUTE_MS), "m"],
    [(wholeMs % MINUTE_MS) / 1000, "s"],
  ] as const;
  return parts.map(([amount, unit]) => (amount === 0 ? "" : `${amount}${unit}`)).join("");
}
