import type { CronJob, UnstructuredObject } from "@kubewright/api";
import { parseSchedule } from "@kubewright/cron";

/** Maximum number of slots that are read: enough for an estimate. */
const MAX_SLOTS = 32;
const DAY_MS = 86_400_000;

/** Estimates the runs per day of an object: 1 for a Job or pod, 0 for objects that run nothing. */
export function runsPerDay(object: UnstructuredObject, fromMs: number): number {
  if (object.kind === "Job" || object.kind === "Pod") return 1;
  if (object.kind !== "CronJob") return 0;
  const { schedule = "", timeZone, suspend } = (object as unknown as Partial<CronJob>).spec ?? {};
  if (suspend) return 0;
  try {
    const times = parseSchedule(schedule, { timeZone: timeZone ?? "UTC" });
    let slots = 0;
    let atMs: number | undefined = fromMs;
    for (let next = times.next(fromMs); next !== undefined && slots < MAX_SLOTS; next = times.next(next)) {
      slots++;
      atMs = next;
    }
    return slots === 0 ? 0 : slots / Math.max(1, (atMs - fromMs) / DAY_MS);
  } catch {
    // The API server reports the invalid schedule.
    return 0;
  }
}
