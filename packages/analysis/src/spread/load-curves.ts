import type { ScheduledLoad } from "./scheduled-load.js";

export const MEASURES = ["starts", "pods", "cpu", "memory"] as const;
export type Measure = (typeof MEASURES)[number];

/** Load in each minute of a window: runs that start, and existing pods with their thousandths of a core and bytes. */
export type LoadCurves = Readonly<Record<Measure, Float64Array>>;

/**
 * Returns the load for given start minutes. @param minutes - First minute of each CronJob's runs, in the order of
 * `loads`.
 */
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

/**
 * Returns the maximum in each of `count` buckets, such as minutes of the hour, hours of the day or days. @param placeOf
 * - Returns the bucket of a minute.
 */
export function maxBy(curve: Float64Array, bucketOf: (minute: number) => number, count: number): number[] {
  const max = Array.from({ length: count }, () => 0);
  for (const [minute, level] of curve.entries()) {
    const bucket = bucketOf(minute);
    if (level > max[bucket]!) max[bucket] = level;
  }
  return max;
}
