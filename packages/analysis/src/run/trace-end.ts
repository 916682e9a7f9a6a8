import { refusalCauses } from "../digest/refusal-causes.js";
import type { DigestGroup } from "../digest/run-digest.js";
import type { Peaks } from "../futures/pod-peaks.js";
import { concurrentLevels } from "../text/concurrent-levels.js";
import type { TraceEnd } from "./trace.js";

/**
 * Returns the last record of a trace, with the concurrent usage, and with the causes for which the API server refused
 * pods or Jobs.
 *
 * @param groups - All groups, after the last record.
 */
export function traceEnd(end: TraceEnd, peaks: Peaks, groups: readonly DigestGroup[]): TraceEnd {
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
  return { ...end, concurrent: concurrentLevels(peaks), ...(refused.length === 0 ? {} : { refused }) };
}
