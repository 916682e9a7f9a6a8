import { at, deletesPods, edits, podsOf } from "../plan-events.js";
import { ofJob } from "./pick-job.js";

/** A deleted pod of an Indexed Job takes long to end, and meanwhile the parallelism increases. */
export const lingeringIndex = ofJob(
  (draw, job) => {
    if (job.indexes < 2) return [];
    const few = draw.fork("few").integer(1, job.indexes - 1);
    const more = draw.fork("more").integer(few + 1, job.indexes + 1);
    const index = draw.fork("index").integer(0, few - 1);
    const atMs = (job.moments[1] ?? 0) + draw.fork("after").integer(2_500, 20_000);
    return [
      at(0, edits(job, { parallelism: few })),
      at(atMs, deletesPods(podsOf(job, index))),
      at(atMs + draw.fork("soon").integer(0, 15_000), edits(job, { parallelism: more })),
    ];
  },
  ({ indexes }) => Math.min(indexes, 3),
);
