import type { Random } from "@kubewright/clock";

/** A length of time to draw uniformly: both ends are the same for a fixed one. Milliseconds. */
export interface DurationRange {
  readonly fromMs: number;
  readonly toMs: number;
}

const UNIT_MS: Readonly<Record<string, number>> = {
  ns: 1e-6,
  us: 1e-3,
  µs: 1e-3,
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
};

const DURATION = /^(?:(?:\d+\.?\d*|\.\d+)(?:ns|us|µs|ms|s|m|h))+$/;
const PART = /(\d+\.?\d*|\.\d+)(ns|us|µs|ms|s|m|h)/g;

/** Reads `1h30m`, `250ms` or `0`, as Go does but without a sign. @returns Milliseconds, or `undefined`. */
export function parseDuration(text: string): number | undefined {
  if (text === "0") return 0;
  if (!DURATION.test(text)) return undefined;
  let totalMs = 0;
  for (const [, amount, unit] of text.matchAll(PART)) totalMs += Number(amount) * UNIT_MS[unit!]!;
  return totalMs;
}

/** Reads a duration or a range of two, `20m..70m`. @returns `undefined` when it is neither, or ends before it begins. */
export function parseDurationRange(text: string): DurationRange | undefined {
  const ends = text.split("..").map((end) => parseDuration(end.trim()));
  const [fromMs, toMs = fromMs] = ends;
  if (ends.length > 2 || fromMs === undefined || toMs === undefined || ends.includes(undefined) || toMs < fromMs)
    return undefined;
  return { fromMs, toMs };
}

/** Draws whole milliseconds. Takes one number from `random` in any case, so that what is drawn next stays the same. */
export function drawDuration({ fromMs, toMs }: DurationRange, random: Random): number {
  return Math.round(fromMs + random.next() * (toMs - fromMs));
}
