import { type TimelineGroup, rowTime } from "../data/rows.js";
import type { ReportData, ReportTotals } from "../data/report-data.js";
import { type Item, type Look, type RunItem, ghostItem, groupId, podItem, runItem } from "./item.js";
import { Lane, packLanes } from "./lane.js";

/** Filter of the displayed items. */
export interface Filter {
  /** Substring of a name, namespace or reason. Not case-sensitive. */
  readonly text: string;
  /** `""`: all namespaces. */
  readonly namespace: string;
  /** Empty: all looks. */
  readonly looks: ReadonlySet<Look>;
  /** Only failed pods, and the runs that have them. */
  readonly failedPods: boolean;
}

/** An entry of the tree beside the timeline, and its lanes. */
export interface SceneRow {
  readonly id: string;
  readonly level: 1 | 2 | 3;
  readonly group: TimelineGroup;
  readonly label: string;
  readonly note: string;
  /** `undefined` when the row cannot be expanded. */
  readonly expanded: boolean | undefined;
  readonly lanes: readonly Lane[];
  /** Pixels from the top of the scene. */
  readonly top: number;
  readonly height: number;
  readonly laneHeight: number;
}

export function isFiltering({ text, namespace, looks, failedPods }: Filter): boolean {
  return text.trim() !== "" || namespace !== "" || looks.size > 0 || failedPods;
}

/** All drawn rows, laid out from top to bottom. */
export interface Scene {
  readonly rows: readonly SceneRow[];
  readonly height: number;
  /** Runs and ghosts that match the filter, by group and in chronological order. */
  readonly runs: readonly Item[];
  /** All items that match the filter, by id. */
  readonly items: ReadonlyMap<string, Item>;
  /** Numbers of runs and ghosts by look, independent of the filter for looks. */
  readonly counts: Readonly<Record<Look, number>>;
  /** Number of failed pods, independent of the filters for looks and pods. */
  readonly failedPods: number;
  /** Totals of the items that match the filter. */
  readonly totals: ReportTotals;
  /** Number of runs of the matching groups that the report does not include. */
  readonly hiddenRuns: number;
}

/**
 * Returns a scene whose lanes are higher, so that a few rows fill a screen. A scene that is higher than the screen stays
 * as it is.
 *
 * @param height - Height of the screen for the rows, in pixels.
 */
export function fitScene(scene: Scene, height: number): Scene {
  const lanes = scene.rows.reduce((sum, row) => sum + Math.max(1, row.lanes.length), 0);
  const extra = Math.floor((height - scene.height) / lanes);
  if (!(extra > 0)) return scene;
  let top = 0;
  const rows = scene.rows.map((row) => {
    const laneHeight = row.laneHeight + extra;
    const stretched = { ...row, top, laneHeight, height: Math.max(1, row.lanes.length) * laneHeight + ROW_PADDING };
    top += stretched.height;
    return stretched;
  });
  return { ...scene, rows, height: top };
}

const GROUP_LANE = 26;
const JOB_LANE = 18;
const POD_LANE = 11;
const ROW_PADDING = 10;
const MAX_LANES = 40;

/** @param collapsed - Ids of collapsed rows. */
export function buildScene(data: ReportData, filter: Filter, collapsed: ReadonlySet<string>): Scene {
  const rows: SceneRow[] = [];
  const runs: Item[] = [];
  const items = new Map<string, Item>();
  const counts: Record<Look, number> = { complete: 0, failed: 0, running: 0, waiting: 0, stopped: 0, skipped: 0 };
  let [hiddenRuns, failedPods] = [0, 0];
  let [pods, podsSucceeded, podsFailed, podsStopped] = [0, 0, 0, 0];
  const text = filter.text.trim().toLowerCase();
  let top = 0;
  for (const group of data.groups) {
    if (filter.namespace !== "" && group.namespace !== filter.namespace) continue;
    const isWholeGroup = text === "" || `${group.namespace}/${group.name}`.toLowerCase().includes(text);
    const shownRuns: Item[] = [];
    const shownPods: Item[] = [];
    const usualMs = usualLengthMs(group);
    for (const [index, row] of group.rows.entries()) {
      const item =
        row.type === "run"
          ? runItem(group, row, data.endMs)
          : ghostItem(group, row, Math.min(data.endMs, ghostEnd(group, index, usualMs)));
      if (!isWholeGroup && !searchText(item).includes(text)) continue;
      counts[item.look] += 1 + (row.type === "skipped" ? (row.unlisted ?? 0) : 0);
      const podsOfRun = row.type === "run" ? row.pods.map((pod) => podItem(group, row, pod, data.endMs)) : [];
      const failedOfRun = podsOfRun.filter(({ look }) => look === "failed");
      failedPods += failedOfRun.length;
      if (filter.failedPods && failedOfRun.length === 0) continue;
      if (isWanted(item.look, filter)) shownRuns.push(item);
      if (row.type !== "run") continue;
      if (filter.looks.size === 0 && !filter.failedPods) pods += row.hiddenPods;
      for (const shown of filter.failedPods ? failedOfRun : podsOfRun)
        if (filter.failedPods || isWanted(shown.look, filter)) shownPods.push(shown);
    }
    const isNarrowed = filter.looks.size > 0 || filter.failedPods;
    if (shownRuns.length === 0 && shownPods.length === 0 && (!isWholeGroup || isNarrowed)) continue;
    shownRuns.sort(byStart);
    shownPods.sort(byStart);
    for (const item of shownRuns) items.set(item.id, item);
    for (const item of shownPods) items.set(item.id, item);
    for (const run of shownRuns) runs.push(run);
    hiddenRuns += group.hiddenRows;
    pods += shownPods.length;
    for (const { look } of shownPods) {
      if (look === "complete") podsSucceeded++;
      else if (look === "failed") podsFailed++;
      else if (look === "stopped") podsStopped++;
    }
    const id = groupId(group);
    const add = (row: Omit<SceneRow, "group" | "top" | "height">): void => {
      const height = Math.max(1, row.lanes.length) * row.laneHeight + ROW_PADDING;
      rows.push({ ...row, group, top, height });
      top += height;
    };
    if (group.kind === "CronJob") addCronJob({ id, group, runs: shownRuns, pods: shownPods, collapsed }, add);
    else {
      const expanded = shownPods.length === 0 ? undefined : !collapsed.has(id);
      add({
        id,
        level: 1,
        label: group.name,
        note: jobNote(shownRuns),
        expanded,
        lanes: [new Lane(shownRuns)],
        laneHeight: GROUP_LANE,
      });
      if (expanded) add(podsRow(`${id}/pods`, 2, shownPods));
    }
  }
  const totals = { ...runTotals(runs), pods, podsSucceeded, podsFailed, podsStopped };
  return { rows, height: top, runs, items, counts, failedPods, totals, hiddenRuns };
}

function runTotals(
  runs: readonly Item[],
): Pick<ReportTotals, "jobs" | "jobsComplete" | "jobsFailed" | "jobsDeleted" | "runsSkipped"> {
  const totals = { jobs: 0, jobsComplete: 0, jobsFailed: 0, jobsDeleted: 0, runsSkipped: 0 };
  for (const item of runs) {
    if (item.type === "ghost") totals.runsSkipped += 1 + (item.row.unlisted ?? 0);
    if (item.type !== "run") continue;
    totals.jobs++;
    const { outcome } = item.row;
    if (outcome === "Complete") totals.jobsComplete++;
    else if (outcome === "Failed") totals.jobsFailed++;
    else if (outcome === "Deleted") totals.jobsDeleted++;
  }
  return totals;
}

/** Returns the median duration of the first runs. */
function usualLengthMs({ rows }: TimelineGroup): number {
  const lengths: number[] = [];
  for (const row of rows) {
    if (row.type === "run" && row.endMs !== undefined) lengths.push(row.endMs - (row.startMs ?? row.createdMs));
    if (lengths.length === 99) break;
  }
  return lengths.sort((a, b) => a - b)[lengths.length >> 1] ?? 0;
}

/** Returns the end of a ghost, which does not extend beyond the next slot. */
function ghostEnd({ rows }: TimelineGroup, index: number, usualMs: number): number {
  const next = rows[index + 1];
  const startMs = rowTime(rows[index]!);
  return Math.min(startMs + usualMs, next === undefined ? Infinity : rowTime(next));
}

/** A CronJob's items to show. */
interface ShownCronJob {
  readonly id: string;
  readonly group: TimelineGroup;
  readonly runs: readonly Item[];
  readonly pods: readonly Item[];
  /** Ids of collapsed rows. */
  readonly collapsed: ReadonlySet<string>;
}

function addCronJob(
  { id, group, runs, pods, collapsed }: ShownCronJob,
  add: (row: Omit<SceneRow, "group" | "top" | "height">) => void,
): void {
  const jobs = runs.filter((item): item is RunItem => item.type === "run");
  const expanded = jobs.length + pods.length === 0 ? undefined : !collapsed.has(id);
  const { schedule, timeZone = "UTC", suspend } = group.cronJob ?? {};
  const note = [group.scheduleText ?? schedule, timeZone, ...(suspend ? ["suspended"] : [])].join("  ");
  // An expanded CronJob shows its slots in its own lane, and its Jobs in separate lanes.
  const own = expanded ? slots(runs) : runs;
  add({ id, level: 1, label: group.name, note, expanded, lanes: [new Lane(own)], laneHeight: GROUP_LANE });
  if (!expanded) return;
  const jobsId = `${id}/jobs`;
  const jobsExpanded = pods.length === 0 ? undefined : !collapsed.has(jobsId);
  const lanes = packLanes(jobs, MAX_LANES);
  add({
    id: jobsId,
    level: 2,
    label: "Jobs",
    note: String(jobs.length),
    expanded: jobsExpanded,
    lanes,
    laneHeight: JOB_LANE,
  });
  if (jobsExpanded) add(podsRow(`${id}/pods`, 3, pods));
}

function podsRow(id: string, level: 2 | 3, pods: readonly Item[]): Omit<SceneRow, "group" | "top" | "height"> {
  const lanes = packLanes(pods, MAX_LANES);
  return { id, level, label: "Pods", note: String(pods.length), expanded: undefined, lanes, laneHeight: POD_LANE };
}

/** Converts runs to marks at their due times. */
export function slots(runs: readonly Item[]): Item[] {
  const moments = runs.map((item): Item => {
    if (item.type !== "run") return item;
    const atMs = item.row.slotMs ?? item.startMs;
    return { ...item, startMs: atMs, endMs: atMs };
  });
  return moments.sort(byStart);
}

function jobNote(runs: readonly Item[]): string {
  const [run] = runs;
  if (run?.type !== "run") return "";
  const { succeeded, failed } = run.row;
  return [succeeded > 0 ? `${succeeded} ok` : "", failed > 0 ? `${failed} failed` : ""].filter(Boolean).join(", ");
}

function isWanted(look: Look, { looks }: Filter): boolean {
  return looks.size === 0 || looks.has(look);
}

function searchText(item: Item): string {
  const parts = item.type === "ghost" ? [item.row.reason] : [item.row.name, item.row.reason ?? ""];
  return parts.join(" ").toLowerCase();
}

function byStart(a: Item, b: Item): number {
  return a.startMs - b.startMs;
}

/** So few CronJobs and Jobs have room for all their rows. */
const FEW_GROUPS = 2;

/** Returns the rows that are collapsed initially: those that do not fit on a screen. */
export function initiallyCollapsed(groups: readonly TimelineGroup[]): Set<string> {
  const collapsed = new Set<string>();
  for (const [index, group] of groups.entries()) {
    if (index >= 8 || (group.rows.length > 400 && groups.length > FEW_GROUPS)) collapsed.add(groupId(group));
  }
  return collapsed;
}

/** Returns the row, the lane and the item at a point. */
export function itemAt(
  scene: Scene,
  y: number,
  atMs: number,
  toleranceMs: number,
): { row: SceneRow; lane: Lane | undefined; item: Item | undefined } | undefined {
  const row = rowAt(scene, y);
  if (row === undefined) return undefined;
  const lane = row.lanes[Math.floor((y - row.top - ROW_PADDING / 2) / row.laneHeight)];
  return { row, lane, item: lane?.hit(atMs, toleranceMs) };
}

export function rowAt({ rows }: Scene, y: number): SceneRow | undefined {
  let low = 0;
  let high = rows.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    const row = rows[middle]!;
    if (row.top + row.height <= y) low = middle + 1;
    else high = middle;
  }
  const row = rows[low];
  return row !== undefined && row.top <= y ? row : undefined;
}

/** Returns the pixels from the top of a row to the middle of one of its lanes. */
export function laneMiddle(row: SceneRow, lane: number): number {
  return ROW_PADDING / 2 + (lane + 0.5) * row.laneHeight;
}
