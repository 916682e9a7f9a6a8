import type { ScheduledLoad } from "./scheduled-load.js";

/** The same CronJobs that start in the same minute, once or repeatedly. */
export interface Stampede {
  readonly loads: readonly ScheduledLoad[];
  readonly pods: number;
  /** Minutes since the start of the window, ascending. */
  readonly minutes: readonly number[];
}

/** Minimum number of CronJobs that start in one minute. */
const MIN_CRON_JOBS = 5;

/** Returns the minutes in which at least five CronJobs start, grouped by CronJobs; those with the most pods first. */
export function stampedes(loads: readonly ScheduledLoad[], windowMinutes: number): Stampede[] {
  const startingAt = new Map<number, number[]>();
  for (const [index, { starts }] of loads.entries())
    for (const start of starts) {
      if (start >= windowMinutes) break;
      const starting = startingAt.get(start);
      if (starting === undefined) startingAt.set(start, [index]);
      else if (starting.at(-1) !== index) starting.push(index);
    }
  const minutesOf = new Map<string, number[]>();
  for (const [minute, starting] of startingAt) {
    if (starting.length < MIN_CRON_JOBS) continue;
    const key = starting.join();
    const minutes = minutesOf.get(key);
    if (minutes === undefined) minutesOf.set(key, [minute]);
    else minutes.push(minute);
  }
  return [...minutesOf]
    .map(([key, minutes]) => {
      const group = key.split(",").map((index) => loads[Number(index)]!);
      return {
        loads: group,
        pods: group.reduce((sum, { pods }) => sum + pods, 0),
        minutes: minutes.sort((a, b) => a - b),
      };
    })
    .sort((a, b) => b.pods - a.pods || a.minutes[0]! - b.minutes[0]!);
}
