import { formatTime } from "@kubewright/api";

import { formatDuration } from "../time/duration.js";
import { coresText, memoryText } from "../text/requests-text.js";
import { type Style, printable } from "../text/style.js";
import { wrap } from "../why/text-block.js";
import { heatMap, minuteStrips } from "./heat-map.js";
import type { LoadCurves, Measure } from "./load-curves.js";
import type { ScheduleChange } from "./moved-manifests.js";
import type { SpreadResult } from "./simulate-spread.js";
import type { SpreadPlan } from "./propose.js";
import type { ScheduledLoad, SpreadWindow } from "./scheduled-load.js";
import type { Stampede } from "./stampedes.js";

/** The findings and the proposal. */
export interface SpreadFindings {
  readonly window: SpreadWindow;
  readonly loads: readonly ScheduledLoad[];
  readonly before: LoadCurves;
  readonly after: LoadCurves;
  readonly stampedes: readonly Stampede[];
  readonly plan: SpreadPlan;
  readonly changes: readonly ScheduleChange[];
  /** Absent: not simulated. */
  readonly simulated?: { readonly before: SpreadResult; readonly after: SpreadResult };
}

export interface SpreadTextOptions {
  readonly measure: Measure;
  readonly width: number;
  readonly style: Style;
}

export function spreadText(findings: SpreadFindings, options: SpreadTextOptions): string {
  const { before, after, window, changes } = findings;
  const { measure, style } = options;
  return [
    minuteStrips(before, style),
    heatMap(measure, before, window.startMs, style),
    stampedesText(findings, options),
    proposalText(findings, options),
    ...(changes.length === 0 ? [] : [`${style.bold("With these minutes")}\n${minuteStrips(after, style)}`]),
    simulatedText(findings, style),
  ]
    .filter((block) => block !== "")
    .join("\n");
}

const MAX_STAMPEDES = 5;
const MAX_NAMES = 5;

function stampedesText({ stampedes, window }: SpreadFindings, { width, style }: SpreadTextOptions): string {
  if (stampedes.length === 0) return `${style.bold("Stampedes")}  none: no five CronJobs start in the same minute\n`;
  const lines = stampedes.slice(0, MAX_STAMPEDES).map(({ loads, pods, minutes }) => {
    const first = formatTime(window.startMs + minutes[0]! * 60_000);
    const times = minutes.length === 1 ? "" : ` and ${(minutes.length - 1).toLocaleString("en-US")} times more`;
    const names = loads.slice(0, MAX_NAMES).map(({ namespace, name }) => `${namespace}/${name}`);
    const more = loads.length > MAX_NAMES ? ` and ${loads.length - MAX_NAMES} more` : "";
    return `${first}${times}: ${loads.length} CronJobs start, ${count(pods, "pod")}: ${names.join(", ")}${more}`;
  });
  const rest = stampedes.length - MAX_STAMPEDES;
  if (rest > 0) lines.push(`and ${rest} others`);
  return `${style.bold("Stampedes")}\n${lines.flatMap((line) => wrap(`  ${printable(line)}`, width)).join("\n")}\n`;
}

function proposalText({ plan, changes, loads }: SpreadFindings, { style }: SpreadTextOptions): string {
  const peaks = `${plan.peakBefore.toLocaleString("en-US")} → ${plan.peak.toLocaleString("en-US")} pods at once`;
  if (changes.length === 0) return `${style.bold("Proposal")}  nothing to move: ${count(plan.peak, "pod")} at once\n`;
  const rows = changes.map(({ load, from, to }) => [
    printable(`${load.namespace}/${load.name}`),
    printable(from),
    "→",
    printable(to),
    `${count(load.pods, "pod")} for ${formatDuration(Math.round(load.expectedMs / 1000) * 1000)}`,
  ]);
  const widths = rows[0]!.map((_, column) => Math.max(...rows.map((row) => row[column]!.length)));
  const lines = rows.map((row) => `  ${row.map((cell, column) => cell.padEnd(widths[column]!)).join("  ")}`.trimEnd());
  const title = `${style.bold("Proposal")}  ${peaks}, with new minutes for ${changes.length} of ${loads.length} CronJobs`;
  return `${[title, ...lines].join("\n")}\n`;
}

/** Title and text of each result of a simulation. */
export const SIMULATED_ROWS: readonly (readonly [string, (each: SpreadResult) => string])[] = [
  ["most pods at once", ({ pods }) => pods.max.toLocaleString("en-US")],
  ["at", ({ pods }) => (pods.max === 0 ? "–" : formatTime(pods.atMs))],
  ["cores requested at once", ({ cpuMillis }) => coresText(cpuMillis)],
  ["memory requested at once", ({ memoryBytes }) => memoryText(memoryBytes)],
  ["runs", ({ runs }) => runs.toLocaleString("en-US")],
  ["failed", ({ failed }) => failed.toLocaleString("en-US")],
  ["skipped", ({ skipped }) => skipped.toLocaleString("en-US")],
  ["waited for a node", ({ withoutNode }) => withoutNode.toLocaleString("en-US")],
  ["waited for a quota", ({ refusedByQuota }) => refusedByQuota.toLocaleString("en-US")],
];

function simulatedText({ simulated }: SpreadFindings, style: Style): string {
  if (simulated === undefined) return "";
  const { before, after } = simulated;
  const lines = [
    ["Simulated", "before", "after"],
    ...SIMULATED_ROWS.map(([title, of]) => [title, of(before), of(after)]),
  ].map(([title, a, b]) => `${title!.padEnd(25)}${a!.padStart(20)}  ${b!.padStart(20)}`);
  return `${style.bold(lines[0]!)}\n${lines.slice(1).join("\n")}\n`;
}

export function count(number: number, noun: string): string {
  return `${number.toLocaleString("en-US")} ${noun}${number === 1 ? "" : "s"}`;
}
