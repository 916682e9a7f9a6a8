import { type ReportData, rowTime, type SkippedRow, type TimelineGroup } from "@kubewright/timeline/data";

import { clockEffects } from "../time/clock-effects.js";

/**
 * Adds the runs whose local time a clock change skips to a report whose window has not ended. Controllers never observe
 * such slots. The timeline adds them itself at the end of its window.
 */
export function withClockGaps(data: ReportData): ReportData {
  const groups = data.groups.map((group) => {
    const { cronJob } = group;
    if (cronJob === undefined || cronJob.suspend) return group;
    const known = new Set(group.rows.filter(isLost).map(rowTime));
    const ghosts = clockEffects(cronJob, data.startMs, data.endMs).lost.filter(({ slotMs }) => !known.has(slotMs));
    return ghosts.length === 0 ? group : withRows(group, ghosts);
  });
  const found = groups.reduce((sum, { rows }, index) => sum + lostIn(rows) - lostIn(data.groups[index]!.rows), 0);
  return { ...data, groups, totals: { ...data.totals, runsSkipped: data.totals.runsSkipped + found } };
}

function isLost(row: TimelineGroup["rows"][number]): row is SkippedRow {
  return row.type === "skipped" && row.cause === "noSuchTime";
}

function lostIn(rows: TimelineGroup["rows"]): number {
  return rows.reduce((sum, row) => (isLost(row) ? sum + 1 + (row.unlisted ?? 0) : sum), 0);
}

function withRows(group: TimelineGroup, ghosts: readonly SkippedRow[]): TimelineGroup {
  return { ...group, rows: [...group.rows, ...ghosts].sort((a, b) => rowTime(a) - rowTime(b)) };
}
