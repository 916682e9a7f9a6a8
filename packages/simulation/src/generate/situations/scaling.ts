import type { ScenarioEventEntry } from "../../faults/registry.js";
import { at, edits } from "../plan-events.js";
import { ofJob } from "./pick-job.js";

/** An Indexed Job is scaled up or down while some of its indexes run or have ended. */
export const scaledTogether = ofJob(
  (draw, job) => {
    if (job.indexes === 0) return [];
    let indexes = job.indexes;
    let atMs = draw.fork("moment").pick(job.moments.slice(0, 3));
    return Array.from({ length: draw.fork("count").integer(1, 3) }, (_, number): ScenarioEventEntry => {
      const fork = draw.fork(String(number));
      atMs += fork.range("after", { soon: [0, 3_000, 60], later: [3_000, 20_000, 40] });
      indexes = fork.fork("fewer").chance(0.6)
        ? fork.fork("few").integer(0, Math.max(0, indexes - 1))
        : indexes + fork.fork("more").integer(1, 4);
      return at(atMs, edits(job, { parallelism: indexes, completions: indexes }));
    });
  },
  ({ indexes }) => Math.min(indexes, 2),
);
