import { isoTime } from "../time/iso-time.js";
import { type LoadCurves, type Measure, maxBy } from "./load-curves.js";
import { runsWithin } from "./scheduled-load.js";
import type { SpreadFindings } from "./spread-text.js";

/**
 * Returns the findings as one JSON object, described by `spread.schema.json`. Times are RFC 3339 in UTC; CPU is in
 * thousandths of a core, memory in bytes.
 */
export function spreadJson({
  window,
  loads,
  before,
  after,
  stampedes,
  plan,
  changes,
  simulated,
}: SpreadFindings): string {
  const document = {
    spreadVersion: 1,
    start: isoTime(window.startMs),
    end: isoTime(window.endMs),
    cronJobs: loads.map((load) => ({
      namespace: load.namespace,
      name: load.name,
      schedule: load.schedule,
      runs: runsWithin(load, (window.endMs - window.startMs) / 60_000),
      pods: load.pods,
      cpuMillis: load.cpuMillis,
      memoryBytes: load.memoryBytes,
      expectedSeconds: load.expectedMs / 1000,
      fixedReason: load.fixedReason,
    })),
    stampedes: stampedes.map((stampede) => ({
      cronJobs: stampede.loads.map(({ namespace, name }) => ({ namespace, name })),
      pods: stampede.pods,
      at: stampede.minutes.map((minute) => isoTime(window.startMs + minute * 60_000)),
    })),
    peakPods: { before: plan.peakBefore, after: plan.peak },
    byMinuteOfHour: { before: byMinuteOfHour(before), after: byMinuteOfHour(after) },
    changes: changes.map(({ load: { namespace, name }, from, to }) => ({ namespace, name, from, to })),
    simulated:
      simulated &&
      Object.fromEntries(
        Object.entries(simulated).map(([side, { pods, ...rest }]) => [
          side,
          { ...rest, pods: pods.max, at: pods.max === 0 ? undefined : isoTime(pods.atMs) },
        ]),
      ),
  };
  return `${JSON.stringify(document, undefined, 2)}\n`;
}

function byMinuteOfHour(curves: LoadCurves): object {
  const max = (measure: Measure): number[] => maxBy(curves[measure], (minute) => minute % 60, 60);
  return { starts: max("starts"), pods: max("pods"), cpuMillis: max("cpu"), memoryBytes: max("memory") };
}
