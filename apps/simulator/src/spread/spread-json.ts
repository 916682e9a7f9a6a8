import { type LoadCurves, type Measure, mostBy } from "./load-curves.js";
import { runsWithin } from "./scheduled-load.js";
import type { SpreadFindings } from "./spread-text.js";

/** One object with everything that was found, as `spread.schema.json` describes it. Times are RFC 3339 in UTC; CPU in thousandths of a core, memory in bytes. */
export function spreadJson({ window, loads, before, after, stampedes, plan, changes, played }: SpreadFindings): string {
  const document = {
    spreadVersion: 1,
    start: iso(window.startMs),
    end: iso(window.endMs),
    cronJobs: loads.map((load) => ({
      namespace: load.namespace,
      name: load.name,
      schedule: load.schedule,
      runs: runsWithin(load, (window.endMs - window.startMs) / 60_000),
      pods: load.pods,
      cpuMillis: load.cpuMillis,
      memoryBytes: load.memoryBytes,
      expectedSeconds: load.expectedMs / 1000,
      ...(load.stays === undefined ? {} : { stays: load.stays }),
    })),
    stampedes: stampedes.map((stampede) => ({
      cronJobs: stampede.loads.map(({ namespace, name }) => ({ namespace, name })),
      pods: stampede.pods,
      at: stampede.minutes.map((minute) => iso(window.startMs + minute * 60_000)),
    })),
    peakPods: { before: plan.peakBefore, after: plan.peak },
    byMinuteOfHour: { before: byMinuteOfHour(before), after: byMinuteOfHour(after) },
    changes: changes.map(({ load: { namespace, name }, from, to }) => ({ namespace, name, from, to })),
    ...(played === undefined
      ? {}
      : {
          played: Object.fromEntries(
            Object.entries(played).map(([side, { pods, ...rest }]) => [
              side,
              { ...rest, pods: pods.most, ...(pods.most === 0 ? {} : { at: iso(pods.atMs) }) },
            ]),
          ),
        }),
  };
  return `${JSON.stringify(document, undefined, 2)}\n`;
}

function byMinuteOfHour(curves: LoadCurves): object {
  const most = (measure: Measure): number[] => mostBy(curves[measure], (minute) => minute % 60, 60);
  return { starts: most("starts"), pods: most("pods"), cpuMillis: most("cpu"), memoryBytes: most("memory") };
}

function iso(timeMs: number): string {
  return new Date(timeMs).toISOString();
}
