import type { Random } from "@kubewright/clock";
import { tryParseGoDuration } from "@kubewright/cron";

/** A duration to sample, in milliseconds; both ends are equal for a fixed duration. */
export interface DurationRange {
  readonly fromMs: number;
  readonly toMs: number;
  /** The distribution, limited to the range. Default: uniform. */
  readonly spread?: DurationSpread;
}

export type DurationSpread =
  | { readonly type: "normal"; readonly meanMs: number; readonly deviationMs: number }
  /** Half of the samples are below the median; `sigma` is the standard deviation of the logarithm. */
  | { readonly type: "lognormal"; readonly medianMs: number; readonly sigma: number }
  | { readonly type: "exponential"; readonly meanMs: number };

/** Reads `1h30m`, `250ms` or `0`, as Go does but without a sign. @returns Milliseconds, or `undefined`. */
export function parseDuration(text: string): number | undefined {
  const nanos = /^[+-]/.test(text) ? undefined : tryParseGoDuration(text);
  return nanos === undefined ? undefined : Number(nanos) / 1_000_000;
}

const SPREAD = /^(normal|lognormal|exponential)\(\s*([^,()\s]+)\s*(?:,\s*([^,()\s]+)\s*)?\)(?:\s+in\s+(\S+))?$/;

/**
 * Reads `5m`; a uniform range, `20m..70m`; or a distribution with an optional range: `normal(10m, 2m)`, `lognormal(10m,
 * 0.5) in 5m..2h`, `exponential(10m)`.
 *
 * @returns `undefined` for other text, or when a range ends before it begins.
 */
export function parseDurationRange(text: string): DurationRange | undefined {
  const match = SPREAD.exec(text);
  if (match === null) return parseEnds(text);
  const [, type, first = "", second, bounds] = match;
  const spread = parseSpread(type!, parseDuration(first), second);
  const ends = bounds === undefined ? { fromMs: 0, toMs: Infinity } : parseEnds(bounds);
  return spread === undefined || ends === undefined ? undefined : { ...ends, spread };
}

function parseEnds(text: string): DurationRange | undefined {
  const ends = text.split("..").map((end) => parseDuration(end.trim()));
  const [fromMs, toMs = fromMs] = ends;
  if (ends.length > 2 || fromMs === undefined || toMs === undefined || ends.includes(undefined) || toMs < fromMs)
    return undefined;
  return { fromMs, toMs };
}

function parseSpread(
  type: string,
  centreMs: number | undefined,
  second: string | undefined,
): DurationSpread | undefined {
  if (centreMs === undefined || (second === undefined) !== (type === "exponential")) return undefined;
  if (type === "exponential") return { type, meanMs: centreMs };
  if (type === "lognormal") {
    const sigma = /^(?:\d+(?:\.\d*)?|\.\d+)$/.test(second!) ? Number(second) : undefined;
    return sigma === undefined ? undefined : { type, medianMs: centreMs, sigma };
  }
  const deviationMs = parseDuration(second!);
  return deviationMs === undefined ? undefined : { type: "normal", meanMs: centreMs, deviationMs };
}

/**
 * Samples a duration in whole milliseconds. It always uses one number of `random`, so that later samples do not change.
 */
export function drawDuration({ fromMs, toMs, spread }: DurationRange, random: Random): number {
  const uniform = random.next();
  if (spread === undefined) return Math.round(fromMs + uniform * (toMs - fromMs));
  return Math.round(Math.min(toMs, Math.max(fromMs, drawSpread(spread, uniform, random))));
}

function drawSpread(spread: DurationSpread, uniform: number, random: Random): number {
  switch (spread.type) {
    case "normal":
      return spread.meanMs + spread.deviationMs * standardNormal(uniform, random);
    case "lognormal":
      return spread.medianMs * Math.exp(spread.sigma * standardNormal(uniform, random));
    case "exponential":
      return -spread.meanMs * Math.log(1 - uniform);
    default:
      return spread satisfies never;
  }
}

/** Box–Muller transform; the second random number comes from a separate source. */
function standardNormal(uniform: number, random: Random): number {
  return Math.sqrt(-2 * Math.log(1 - uniform)) * Math.cos(2 * Math.PI * random.fork("angle").next());
}
