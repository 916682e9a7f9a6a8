import type { FoundObjects } from "../input/input-problem.js";
import { printable } from "./style.js";

/** Maximum number of left-out objects that are named, and characters of a reason. */
const MAX_NAMED = 3;
const MAX_REASON = 100;

/**
 * Returns what the input has and what runs: `7 CronJobs and 2 Jobs found in 31 files; 5 run, 4 left out: CronJob a/b
 * (spec.schedule: …), …`.
 */
export function foundText({ cronJobs, jobs, files, mistakes }: FoundObjects): string {
  const objects = new Map<string, string>();
  for (const { kind, object, reason } of mistakes)
    if (kind === "leftOut" && !objects.has(object)) objects.set(object, reason);
  const counts = [...(cronJobs > 0 ? [countOf(cronJobs, "CronJob")] : []), ...(jobs > 0 ? [countOf(jobs, "Job")] : [])];
  const where = files === 0 ? "" : ` in ${countOf(files, "file")}`;
  const all = cronJobs + jobs;
  const what = `${counts.join(" and ") || "no CronJob and no Job"} found${where}`;
  if (objects.size === 0) return `${what}${all === 0 ? "" : all === 1 ? "; it runs" : "; all run"}`;
  const named = [...objects]
    .slice(0, MAX_NAMED)
    .map(([object, reason]) => `${printable(object)} (${shortened(reason)})`);
  const more = objects.size - named.length;
  const names = `${named.join(", ")}${more > 0 ? ` and ${more.toLocaleString("en-US")} more` : ""}`;
  return `${what}; ${all - objects.size} run, ${objects.size.toLocaleString("en-US")} left out: ${names}`;
}

function countOf(count: number, kind: string): string {
  return `${count.toLocaleString("en-US")} ${kind}${count === 1 ? "" : "s"}`;
}

function shortened(reason: string): string {
  const text = printable(reason);
  return text.length <= MAX_REASON ? text : `${text.slice(0, MAX_REASON - 1)}…`;
}
