import type { NamedUsage, Peaks, Usage } from "../futures/pod-peaks.js";
import { LEVEL_FORMATS } from "./level-formats.js";
import { type Style, printable } from "./style.js";
import type { ConcurrentLevels, UsageInTrace } from "../run/trace.js";

/** Returns the levels in the format of the trace's last line. */
export function concurrentLevels({ namespaces, pools, selected: _selected, ...all }: Peaks): ConcurrentLevels {
  return {
    ...inTrace(all),
    namespaces: namespaces.map(({ name, ...usage }) => ({ namespace: name, ...inTrace(usage) })),
    pools: pools.map(({ name, ...usage }) => ({ pool: name, ...inTrace(usage) })),
  };
}

function inTrace({ overTime, pods, cpuMillis, memoryBytes }: Usage): UsageInTrace {
  return {
    pods: { max: pods, p95OverTime: overTime.pods },
    cores: { max: cpuMillis / 1000, p95OverTime: overTime.cpuMillis / 1000 },
    memoryBytes: { max: memoryBytes, p95OverTime: overTime.memoryBytes },
  };
}

/** Maximum number of namespaces and pools that are listed; the others are counted. */
const MAX_ROWS = 20;

/**
 * Formats the maximum and the 95 % level of everything, and of namespaces and pools if there are several. Empty when no
 * pod ran.
 */
export function concurrentLevelsText(peaks: Peaks, style: Style): string {
  if (peaks.pods === 0) return "";
  const levels = LEVEL_FORMATS.filter(({ level }) => peaks[level] > 0);
  const ifSeveral = (what: string, all: readonly NamedUsage[]): (readonly [string, Usage])[] =>
    all.length < 2 ? [] : all.map((each) => [`${what} ${each.name}`, each]);
  const named = [...ifSeveral("namespace", peaks.namespaces), ...ifSeveral("node pool", peaks.pools)];
  const rows = ([["all together", peaks], ...named.slice(0, MAX_ROWS)] as const).map(([name, usage]) => [
    printable(name),
    ...levels.flatMap(({ level, show }) => [show(usage[level]), show(usage.overTime[level])]),
  ]);
  const head = ["Most at once", ...levels.flatMap(({ title }) => [title, "95% of time"])];
  const widths = head.map((title, column) => Math.max(title.length, ...rows.map((row) => row[column]!.length)));
  const line = (cells: readonly string[]): string =>
    cells.map((cell, column) => (column === 0 ? cell.padEnd(widths[0]!) : cell.padStart(widths[column]!))).join("  ");
  const more = named.length - MAX_ROWS;
  return `${[
    style.bold(line(head)),
    ...rows.map(line),
    ...(more > 0 ? [style.dim(`… and ${more} more; --json has them all`)] : []),
  ].join("\n")}\n`;
}
