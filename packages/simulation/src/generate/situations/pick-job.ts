import type { Draw } from "../draw.js";
import type { DrawEvents, SituationContext } from "../situation.js";
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

/** Returns a situation about one Job, mostly a large one; without Jobs it has no events. */
export function ofJob(
  drawEvents: (draw: Draw, job: Subject, context: SituationContext) => ReturnType<DrawEvents>,
  sizeOf?: (job: Subject) => number,
): DrawEvents {
  return (draw, context) => {
    const job = pickJob(draw, context, sizeOf);
    return job === undefined ? [] : drawEvents(draw, job, context);
  };
}
