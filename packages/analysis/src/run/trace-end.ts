import { refusalCauses } from "../digest/refusal-causes.js";
import type { DigestGroup } from "../digest/run-digest.js";
import type { Peaks } from "../futures/pod-peaks.js";
import type { FoundObjects } from "../input/input-problem.js";
import { concurrentLevels } from "../text/concurrent-levels.js";
import { type TraceEnd, inputInTrace } from "./trace.js";

/** A run after its last record. */
export interface RunSummary {
  readonly peaks: Peaks;
  readonly groups: readonly DigestGroup[];
  readonly found: FoundObjects;
}

/**
 * Returns the last record of a trace, with the concurrent usage, the causes for which the API server refused pods or
 * Jobs, and what the input had.
 */
export function traceEnd(end: TraceEnd, { peaks, groups, found }: RunSummary): TraceEnd {
  const refused = refusalCauses(groups).map(
    ({ object, text, runs, withoutPods, slots, workloads, firstMs, lastMs }) => ({
      ...(object === undefined ? {} : { object }),
      message: text,
      runs,
      runsWithoutPods: withoutPods,
      slots,
      workloads,
      first: new Date(firstMs).toISOString(),
      last: new Date(lastMs).toISOString(),
    }),
  );
  return {
    ...end,
    concurrent: concurrentLevels(peaks),
    ...(refused.length === 0 ? {} : { refused }),
    input: inputInTrace(found),
  };
}
