import { formatTime } from "@kubewright/api";
import type { FigureTable, SpreadReport } from "@kubewright/timeline/data";

import { formatDuration } from "../time/duration.js";
import { MEASURE_TITLES } from "./heat-map.js";
import { MEASURES } from "./load-curves.js";
import { omittedDays, loadMaps } from "./load-maps.js";
import { SIMULATED_ROWS, type SpreadFindings, count } from "./spread-text.js";

const MINUTE_MS = 60_000;

/** Returns the findings and the proposal for the HTML page. */
export function spreadReport(findings: SpreadFindings): SpreadReport {
  const { window, loads, before, after, changes, plan } = findings;
  const title = (name: string): string => `${name[0]!.toUpperCase()}${name.slice(1)}`;
  return {
    page: "spread",
    startMs: window.startMs,
    endMs: window.endMs,
    cronJobs: loads.length,
    changes: changes.length,
    peakPods: { before: plan.peakBefore, after: plan.peak },
    measures: MEASURES.filter((name) => before[name].some((level) => level > 0)).map((name) => ({
      name,
      title: title(MEASURE_TITLES[name]),
      before: loadMaps(before[name], window.startMs),
      ...(changes.length === 0 ? {} : { after: loadMaps(after[name], window.startMs) }),
    })),
    daysLeft: omittedDays(before.starts, window.startMs),
    tables: [stampedesTable(findings), changesTable(findings), simulatedTable(findings), fixedTable(findings)].filter(
      ({ rows }) => rows.length > 0,
    ),
  };
}

/** Maximum number of CronJobs named per stampede. The others are counted. */
const MAX_NAMES = 12;

function stampedesTable({ stampedes, window }: SpreadFindings): FigureTable {
  return {
    title: "Stampedes",
    note: "Minutes in which five CronJobs or more start, as the schedules are.",
    head: ["first at", "times", "CronJobs", "pods", "which"],
    rows: stampedes.map(({ loads, pods, minutes }) => {
      const names = loads.slice(0, MAX_NAMES).map(({ namespace, name }) => `${namespace}/${name}`);
      const more = loads.length - names.length;
      return [
        formatTime(window.startMs + minutes[0]! * MINUTE_MS),
        minutes.length.toLocaleString("en-US"),
        loads.length.toLocaleString("en-US"),
        pods.toLocaleString("en-US"),
        `${names.join(", ")}${more > 0 ? ` and ${more.toLocaleString("en-US")} more` : ""}`,
      ];
    }),
  };
}

function changesTable({ changes }: SpreadFindings): FigureTable {
  return {
    title: "Proposed changes",
    note: "--patch writes them for kubectl apply.",
    head: ["CronJob", "schedule", "new schedule", "each run"],
    rows: changes.map(({ load, from, to }) => [
      `${load.namespace}/${load.name}`,
      from,
      to,
      `${count(load.pods, "pod")} for ${formatDuration(Math.round(load.expectedMs / 1000) * 1000)}`,
    ]),
  };
}

function simulatedTable({ simulated }: SpreadFindings): FigureTable {
  return {
    title: "Simulated",
    note: "Both sets of schedules, simulated for the window.",
    head: ["", "before", "after"],
    isNumeric: true,
    rows:
      simulated === undefined
        ? []
        : SIMULATED_ROWS.map(([title, of]) => [title, of(simulated.before), of(simulated.after)]),
  };
}

function fixedTable({ loads }: SpreadFindings): FigureTable {
  return {
    title: "What stays where it is",
    head: ["CronJob", "schedule", "why"],
    rows: loads.flatMap(({ namespace, name, schedule, fixedReason }) =>
      fixedReason === undefined ? [] : [[`${namespace}/${name}`, schedule, fixedReason]],
    ),
  };
}
