import type { HappeningEntry } from "../../scenario/scenario-file.js";
import { offsetText } from "../duration-text.js";
import type { Situation } from "../situation.js";
import { target } from "../user-actions.js";
import { pickJob } from "./pick-job.js";

/** An Indexed Job gets more indexes, or fewer, when some of them run, or have ended. */
export const scaledTogether: Situation = {
  name: "scaled together",
  shapes: ["jobs", "indexed"],
  without: ["quota", "managedBy", "activeDeadline"],
  draw(draw, ground) {
    const job = pickJob(draw, ground, ({ indexes }) => Math.min(indexes, 2));
    if (job === undefined || job.indexes === 0) return [];
    let indexes = job.indexes;
    let atMs = draw.fork("moment").pick(job.moments.slice(0, 3));
    return Array.from({ length: draw.fork("count").whole(1, 3) }, (_, number): HappeningEntry => {
      const lots = draw.fork(String(number));
      atMs += lots.fork("after").weighted([
        [lots.fork("soon").whole(0, 3_000), 60],
        [lots.fork("later").whole(3_000, 20_000), 40],
      ]);
      indexes = lots.fork("fewer").chance(0.6)
        ? lots.fork("few").whole(0, Math.max(0, indexes - 1))
        : indexes + lots.fork("more").whole(1, 4);
      const spec = { parallelism: indexes, completions: indexes };
      return { at: offsetText(atMs), patch: { ...target(job), with: { spec } } };
    });
  },
};
