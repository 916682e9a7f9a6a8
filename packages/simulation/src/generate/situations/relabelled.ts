import { offsetText } from "../duration-text.js";
import { isManual } from "../selectors.js";
import type { Situation } from "../situation.js";
import { relabelPods, target } from "../user-actions.js";
import { pickJob } from "./pick-job.js";

/** Pods that run, or have ended, are taken from their Job, and mostly given back, or left by it to another, while nothing else goes on. */
export const relabelledPods: Situation = {
  name: "relabelled pods",
  shapes: ["jobs", "longPods", "overlappingSelectors"],
  without: ["quota", "managedBy", "activeDeadline", "suspend"],
  draw(draw, context) {
    const job = pickJob(draw, context, ({ manifest }) => (isManual(manifest) ? 1 : 0));
    if (job === undefined) return [];
    const [begunMs = 0, ...later] = job.moments.slice(1);
    const momentMs = later.length > 0 && draw.fork("later").chance(0.3) ? draw.fork("moment").pick(later) : begunMs;
    const atMs = momentMs + draw.fork("after").integer(2_500, 20_000);
    if (draw.fork("left").chance(0.4))
      return [{ at: offsetText(atMs), delete: { ...target(job), propagation: "Orphan" } }];
    return relabelPods(draw.fork("which"), job, atMs).map(({ atMs: thenMs, what }) => ({
      at: offsetText(thenMs),
      ...what,
    }));
  },
};
