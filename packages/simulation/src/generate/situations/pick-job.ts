import type { Draw } from "../draw.js";
import type { SituationContext } from "../situation.js";
import type { Subject } from "../workload.js";

/** Picks a Job of the plan, with probability 0.7 among those with the largest size. */
export function pickJob(
  draw: Draw,
  { subjects }: SituationContext,
  sizeOf: (job: Subject) => number = () => 0,
): Subject | undefined {
  const jobs = subjects.filter(({ kind, isRun }) => kind === "Job" && isRun !== true);
  if (jobs.length === 0) return undefined;
  const max = Math.max(...jobs.map(sizeOf));
  return draw.fork("job").pick(draw.fork("any").chance(0.3) ? jobs : jobs.filter((job) => sizeOf(job) === max));
}
