import type { ScenarioEventEntry } from "../../faults/registry.js";
import { offsetText } from "../duration-text.js";
import { podsOf, target } from "../user-actions.js";
import { ofJob } from "./pick-job.js";

/** A deleted pod of an Indexed Job takes long to end, and meanwhile the parallelism increases. */
export const lingeringIndex = ofJob(
  (draw, job) => {
    if (job.indexes < 2) return [];
    const few = draw.fork("few").integer(1, job.indexes - 1);
    const more = draw.fork("more").integer(few + 1, job.indexes + 1);
    const index = String(draw.fork("index").integer(0, few - 1));
    const pods = podsOf(job);
    const labels = { ...pods.labels, "batch.kubernetes.io/job-completion-index": index };
    const atMs = (job.moments[1] ?? 0) + draw.fork("after").integer(2_500, 20_000);
    const moreMs = atMs + draw.fork("soon").integer(0, 15_000);
    const wants = (parallelism: number): Omit<ScenarioEventEntry, "at"> => ({
      patch: { ...target(job), with: { spec: { parallelism } } },
    });
    return [
      { at: "+0s", ...wants(few) },
      { at: offsetText(atMs), delete: { ...pods, labels } },
      { at: offsetText(moreMs), ...wants(more) },
    ];
  },
  ({ indexes }) => Math.min(indexes, 3),
);
