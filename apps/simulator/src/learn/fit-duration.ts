/** Fewer observations tell where they lie, but not how they are spread. */
const FEWEST_TO_FIT = 8;
/** What begins and ends in one second, the smallest difference the API tells of, took about half of it. */
const SHORTEST_MS = 500;
const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;

/**
 * The distribution that lengths of time were probably drawn from, as workloads files have it: the duration itself when
 * all are the same, the range of up to seven, and of more a lognormal or normal distribution, whichever makes them more
 * likely, within the range that was seen.
 *
 * @param durationsMs - Milliseconds, one at least.
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
  // Logarithms of the two likelihoods, each by observation and without what they have in common.
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

/** As Go reads it, `1h5m`: to the second from a minute on, below to the millisecond. */
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
