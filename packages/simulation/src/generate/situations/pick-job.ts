import type { ScenarioEventEntry } from "../../faults/registry.js";
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

type DrawEventsOf = (draw: Draw, subject: Subject, context: SituationContext) => readonly ScenarioEventEntry[];

/** Returns a situation about one Job, mostly a large one; without Jobs it has no events. */
export function ofJob(drawEvents: DrawEventsOf, sizeOf?: (job: Subject) => number): DrawEvents {
  return (draw, context) => {
    const job = pickJob(draw, context, sizeOf);
    return job === undefined ? [] : drawEvents(draw, job, context);
  };
}

/** Returns a situation about one of the subjects that match; without one it has no events. */
export function ofOne(name: string, matches: (subject: Subject) => boolean, drawEvents: DrawEventsOf): DrawEvents {
  return (draw, context) => {
    const those = context.subjects.filter(matches);
    return those.length === 0 ? [] : drawEvents(draw, draw.fork(name).pick(those), context);
  };
}
