import type { ScenarioEventEntry } from "../../faults/registry.js";
import type { Draw } from "../draw.js";
import { at, during, edits, refuses } from "../plan-events.js";
import type { Shape } from "../shape.js";
import type { Situation } from "../situation.js";
import { pickJob } from "./pick-job.js";

const STALE_PODS = { staleCache: { kind: "Pod", controller: "job-controller" } };

/**
 * Several pods of a Job end, with success or failure, before the controller has counted the first: it does not observe
 * them, or cannot remove their finalizers. Some of their indexes may be out of range by then.
 */
export function endsTogether(draw: Draw): Situation {
  const shapes = draw.fork("of").weighted<readonly Shape[]>([
    [["jobs", "failures", "manyPods"], 30],
    [["jobs", "failures", "manyPods", "mixedFailures"], 15],
    [["jobs", "failures", "mixedFailures", "indexed", "successPolicy"], 15],
    [["jobs", "failures", "indexed", "backoffLimitPerIndex"], 30],
    [["jobs", "failures", "indexed", "backoffLimitPerIndex", "podFailurePolicy"], 30],
  ]);
  return {
    shapes,
    without: ["quota", "managedBy", "suspend", "activeDeadline", "longPods", "slowPods"],
    draw(fork, context) {
      const job = pickJob(fork, context, ({ indexes }) => (shapes.includes("indexed") ? Math.min(indexes, 2) : 0));
      if (job === undefined) return [];
      const ends = job.moments.filter((_, index) => index >= 2 && index % 2 === 0);
      let fromMs = Math.max(0, fork.fork("from").pick(ends.length === 0 ? job.moments : ends) - 1_500);
      const fewer = fork.fork("how few").integer(0, Math.max(0, job.indexes - 1));
      const scaledMs = fromMs + fork.fork("scaled").integer(1_500, 5_000);
      const scaled = at(scaledMs, edits(job, { parallelism: fewer, completions: fewer }));
      const outages = Array.from({ length: fork.fork("count").integer(1, 3) }, (_, number): ScenarioEventEntry => {
        const each = fork.fork(String(number));
        if (number > 0) fromMs += each.fork("pause").integer(1_000, 30_000);
        const forMs = each.fork("for").integer(3_000, 45_000);
        const startMs = fromMs;
        fromMs += forMs;
        const isUnobserved = each.fork("seen").chance(0.5);
        return during(startMs, forMs, isUnobserved ? STALE_PODS : refuses("job-controller", "patch", "pods"));
      });
      return job.indexes > 1 && fork.fork("fewer").chance(0.25) ? [...outages, scaled] : outages;
    },
  };
}
