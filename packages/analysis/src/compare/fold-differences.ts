import type { DifferingGroup } from "@kubewright/timeline/data";

import { ZonedClock } from "../time/zoned-clock.js";
import type { GroupComparison } from "./compare-runs.js";
import { sideText } from "./comparison-text.js";

/** Smallest number of equal differences that become one line. */
const MIN_FOLDED = 3;

/**
 * Returns the differences of a group as text, ordered by their first slot. Equal differences become one line with their
 * number and their interval: `83 slots, every second hour`. Names of Jobs do not make differences unequal, and neither do
 * seconds of a lateness, which grow while each run waits for the one before.
 */
export function foldDifferences({ differences, name, timeZone }: GroupComparison): DifferingGroup["differences"] {
  const jobNames = new RegExp(`\\b${name.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&")}-\\d+`, "g");
  const folds = new Map<string, { line: DifferingGroup["differences"][number]; slotsMs: number[] }[]>();
  const all: { line: DifferingGroup["differences"][number]; slotsMs: number[] }[] = [];
  const generic = (text: string): string =>
    text
      .replaceAll(jobNames, "an earlier run")
      .replace(/started (\S*[dhm])\d+s late/, "started about $1 late")
      .replace(/started (\S*[dhm]) late/, "started about $1 late")
      .replace(/started \d+s late/, "started less than a minute late");
  for (const difference of differences) {
    const { type, slotMs } = difference;
    const line = { type, slotMs, a: sideText(difference, "a"), b: sideText(difference, "b") };
    const entry = { line, slotsMs: [slotMs] };
    all.push(entry);
    const key = `${type}\0${generic(line.a)}\0${generic(line.b)}`;
    const equal = folds.get(key);
    if (equal === undefined) folds.set(key, [entry]);
    else equal.push(entry);
  }
  const clock = new ZonedClock(timeZone);
  const folded = new Set<(typeof all)[number]>();
  for (const equal of folds.values()) {
    if (equal.length < MIN_FOLDED) continue;
    const [first, ...others] = equal as [(typeof all)[number], ...typeof all];
    for (const other of others) {
      first.slotsMs.push(...other.slotsMs);
      folded.add(other);
    }
    const every = intervalText(first.slotsMs.map((slotMs) => slotMs + clock.offsetMs(slotMs)));
    const isSame = (side: "a" | "b"): boolean => equal.every(({ line }) => line[side] === equal[0]!.line[side]);
    first.line = {
      ...first.line,
      a: isSame("a") ? first.line.a : generic(first.line.a),
      b: isSame("b") ? first.line.b : generic(first.line.b),
      repeated: {
        count: first.slotsMs.length,
        lastMs: first.slotsMs.at(-1)!,
        ...(every === undefined ? {} : { every }),
      },
    };
  }
  return all.filter((entry) => !folded.has(entry)).map(({ line }) => line);
}

const UNITS = [
  ["week", 604_800_000],
  ["day", 86_400_000],
  ["hour", 3_600_000],
  ["minute", 60_000],
] as const;
const ORDINALS = ["", "", "second ", "third ", "fourth ", "fifth ", "sixth "];

/** Returns `every second hour`; `undefined` when the intervals differ. */
function intervalText(timesMs: readonly number[]): string | undefined {
  const stepMs = timesMs[1]! - timesMs[0]!;
  if (timesMs.some((timeMs, index) => index > 0 && timeMs - timesMs[index - 1]! !== stepMs)) return undefined;
  const found = UNITS.find(([, ms]) => stepMs >= ms && stepMs % ms === 0);
  if (found === undefined) return undefined;
  const [unit, ms] = found;
  const count = stepMs / ms;
  return count < ORDINALS.length ? `every ${ORDINALS[count]}${unit}` : `every ${count} ${unit}s`;
}
