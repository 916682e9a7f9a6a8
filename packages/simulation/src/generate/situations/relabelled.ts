import { at, deletes } from "../plan-events.js";
import { isManual } from "../selectors.js";
import { relabelPods } from "../user-actions.js";
import { ofJob } from "./pick-job.js";

/**
 * Running or ended pods lose the labels that their Job selects, and mostly get them back, or their Job is deleted with
 * orphan propagation. There are no other faults.
 */
export const relabelledPods = ofJob(
  (draw, job) => {
    const [begunMs = 0, ...later] = job.moments.slice(1);
    const momentMs = later.length > 0 && draw.fork("later").chance(0.3) ? draw.fork("moment").pick(later) : begunMs;
    const atMs = momentMs + draw.fork("after").integer(2_500, 20_000);
    return draw.fork("left").chance(0.4)
      ? [at(atMs, deletes(job, "Orphan"))]
      : relabelPods(draw.fork("which"), job, atMs);
  },
  ({ manifest }) => (isManual(manifest) ? 1 : 0),
);
