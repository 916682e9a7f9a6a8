import type { ScheduledLoad } from "./scheduled-load.js";

export const MEASURES = ["starts", "pods", "cpu", "memory"] as const;
export type Measure = (typeof MEASURES)[number];

/** What goes on in every minute of a window: runs that start, and pods, thousandths of a core and bytes that are there. */
export type LoadCurves = Readonly<Record<Measure, Float64Array>>;

/** @param minutes - The first minute of each CronJob's runs, in the order of `loads`. */
export function loadCurves(
  loads: readonly ScheduledLoad[],
  minutes: readonly number[],
  windowMinutes: number,
): LoadCurves {
  const curves = {
    starts: new Float64Array(windowMinutes),
    pods: new Float64Array(windowMinutes),
    cpu: new Float64Array(windowMinutes),
    memory: new Float64Array(windowMinutes),
  };
  for (const [index, { starts, ends, minute, pods, cpuMillis, memoryBytes }] of loads.entries()) {
    const shift = minutes[index]! - minute;
    for (let run = 0; run < starts.length; run++) {
      const start = starts[run]! + shift;
      if (start >= 0 && start < windowMinutes) curves.starts[start]!++;
      const end = Math.min(windowMinutes, ends[run]! + shift);
      for (let at = Math.max(0, start); at < end; at++) {
        curves.pods[at]! += pods;
        curves.cpu[at]! += cpuMillis;
        curves.memory[at]! += memoryBytes;
      }
    }
  }
  return curves;
}

/** The most in each minute of the hour, hour of the day or day: of every `length` minutes the one they are in, of `count`. */
export function maxBy(curve: Float64Array, bucketOf: (minute: number) => number, count: number): number[] {
  const max = Array.from({ length: count }, () => 0);
  for (const [minute, level] of curve.entries()) {
    const bucket = bucketOf(minute);
    if (level > max[bucket]!) max[bucket] = level;
  }
  return max;
}
