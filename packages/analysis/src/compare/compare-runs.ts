import { Schedules, effectiveSchedule } from "@kubewright/cronjob";

import { durationMsOf } from "../text/run-row-text.js";
import type { CronJobState } from "../run/trace.js";
import { zoneOf } from "../time/zone-of.js";
import type { RunRecordGroup, RunRecord, RunRecords } from "./run-records.js";

/** The differences between two simulations, by run. */
export interface Comparison {
  readonly groups: readonly GroupComparison[];
  readonly totals: RunCounts;
  /** Runs from this time on were not compared, because there were too many to store. */
  readonly untilMs?: number;
}

export interface GroupComparison {
  readonly kind: "CronJob" | "Job";
  readonly namespace: string;
  readonly name: string;
  /** Which sides have the object. */
  readonly presentIn: "both" | "a" | "b";
  /** Time zone of the slots: UTC for Jobs, and when the two sides differ in it. */
  readonly timeZone: string;
  readonly counts: RunCounts;
  /** Ordered by time. Equal runs are omitted. */
  readonly differences: readonly RunDifference[];
}

export interface RunCounts {
  /** Runs of each side, without skipped ones. */
  readonly a: number;
  readonly b: number;
  readonly same: number;
  readonly different: number;
  readonly onlyA: number;
  readonly onlyB: number;
}

export interface RunDifference {
  readonly type: "onlyA" | "onlyB" | "different";
  readonly slotMs: number;
  readonly a?: RunRecord;
  readonly b?: RunRecord;
  /** For `onlyA` and `onlyB`: why the other side has no such run. */
  readonly absent?: AbsentReason;
  /** For `different`: the aspects that differ. */
  readonly differs?: readonly Aspect[];
}

export type AbsentReason =
  /** The other side has no such CronJob or Job. */
  | "noSuchObject"
  /** The other side's schedule has no such slot. */
  | "notScheduled"
  /** The other side's schedule has the slot, but there is no record of it. */
  | "notStarted";

export type Aspect = "outcome" | "start" | "duration" | "failedPods" | "refusedStatuses";

/** Times closer than this count as equal, because API times are whole seconds. */
const EQUAL_MS = 1000;

/** Compares CronJobs by slot, and other Jobs by name. Equal records have no differences. */
export function compareRuns(a: RunRecords, b: RunRecords): Comparison {
  const schedules = new Schedules();
  const untilMs = Math.min(a.completeUntilMs, b.completeUntilMs);
  const groups: GroupComparison[] = [];
  for (const [key, group] of a.groups) groups.push(compareGroups(group, b.groups.get(key), untilMs, schedules));
  for (const [key, group] of b.groups)
    if (!a.groups.has(key)) groups.push(compareGroups(undefined, group, untilMs, schedules));
  const totals = groups.reduce<RunCounts>((sum, { counts }) => addCounts(sum, counts), NONE);
  return { groups, totals, ...(Number.isFinite(untilMs) ? { untilMs } : {}) };
}

const NONE: RunCounts = { a: 0, b: 0, same: 0, different: 0, onlyA: 0, onlyB: 0 };

function addCounts(sum: RunCounts, more: RunCounts): RunCounts {
  return {
    a: sum.a + more.a,
    b: sum.b + more.b,
    same: sum.same + more.same,
    different: sum.different + more.different,
    onlyA: sum.onlyA + more.onlyA,
    onlyB: sum.onlyB + more.onlyB,
  };
}

function compareGroups(
  a: RunRecordGroup | undefined,
  b: RunRecordGroup | undefined,
  untilMs: number,
  schedules: Schedules,
): GroupComparison {
  const { kind, namespace, name } = (a ?? b)!;
  const differences: RunDifference[] = [];
  let same = 0;
  const keys = new Set([...(a?.runs.keys() ?? []), ...(b?.runs.keys() ?? [])]);
  const found = [...keys]
    .map((key) => ({ inA: a?.runs.get(key), inB: b?.runs.get(key) }))
    .filter(({ inA, inB }) => (inA ?? inB)!.slotMs < untilMs);
  for (const { inA, inB } of found) {
    const slotMs = (inA ?? inB)!.slotMs;
    const there = inA ?? suspendedSkip(a, slotMs, schedules);
    const here = inB ?? suspendedSkip(b, slotMs, schedules);
    if (there !== undefined && here !== undefined) {
      const differs = aspects(there, here);
      if (differs.length === 0) same++;
      else differences.push({ type: "different", slotMs, a: there, b: here, differs });
    } else if (there !== undefined) {
      differences.push({ type: "onlyA", slotMs, a: there, absent: absentReason(b, slotMs, schedules) });
    } else if (here !== undefined) {
      differences.push({ type: "onlyB", slotMs, b: here, absent: absentReason(a, slotMs, schedules) });
    }
  }
  differences.sort((left, right) => left.slotMs - right.slotMs);
  const of = (type: RunDifference["type"]): number => differences.filter((each) => each.type === type).length;
  const ran = (runs: readonly (RunRecord | undefined)[]): number =>
    runs.filter((run) => run !== undefined && run.outcome !== "Skipped").length;
  return {
    kind,
    namespace,
    name,
    timeZone: zoneOfBoth(a, b),
    presentIn: b === undefined ? "a" : a === undefined ? "b" : "both",
    counts: {
      a: ran(found.map(({ inA }) => inA)),
      b: ran(found.map(({ inB }) => inB)),
      same,
      different: of("different"),
      onlyA: of("onlyA"),
      onlyB: of("onlyB"),
    },
    differences,
  };
}

function aspects(a: RunRecord, b: RunRecord): Aspect[] {
  const found: Aspect[] = [];
  if (a.outcome !== b.outcome || a.reason !== b.reason || a.skipped !== b.skipped) found.push("outcome");
  const bothRan = a.createdMs !== undefined && b.createdMs !== undefined;
  if (bothRan && Math.abs(a.createdMs - b.createdMs) >= EQUAL_MS) found.push("start");
  const [tookA, tookB] = [durationOf(a), durationOf(b)];
  if (tookA !== undefined && tookB !== undefined && Math.abs(tookA - tookB) >= EQUAL_MS) found.push("duration");
  if (bothRan && a.failedPods !== b.failedPods) found.push("failedPods");
  // The number of refusals depends on the retry rate of a controller.
  if (bothRan && (a.refusedStatuses === undefined) !== (b.refusedStatuses === undefined)) found.push("refusedStatuses");
  return found;
}

/** Returns `undefined` for a run that did not start or has not ended. */
export function durationOf({ createdMs, ...run }: RunRecord): number | undefined {
  return createdMs === undefined ? undefined : durationMsOf({ createdMs, ...run });
}

function zoneOfBoth(a: RunRecordGroup | undefined, b: RunRecordGroup | undefined): string {
  const zones = [a, b].flatMap((group) => group?.states.map(({ state }) => zoneOf({ cronJob: state })) ?? []);
  return zones.length > 0 && new Set(zones).size === 1 ? zones[0]! : "UTC";
}

/**
 * A suspended CronJob reports its missed slots only when it is resumed; this function returns them as skipped
 * immediately.
 */
function suspendedSkip(group: RunRecordGroup | undefined, slotMs: number, schedules: Schedules): RunRecord | undefined {
  const state = group === undefined ? undefined : stateAt(group, slotMs);
  if (state?.suspend !== true || !hasSlot(state, slotMs, schedules)) return undefined;
  return { slotMs, outcome: "Skipped", skipped: "suspended", failedPods: 0 };
}

function absentReason(group: RunRecordGroup | undefined, slotMs: number, schedules: Schedules): AbsentReason {
  if (group === undefined) return "noSuchObject";
  const state = stateAt(group, slotMs);
  return state !== undefined && hasSlot(state, slotMs, schedules) ? "notStarted" : "notScheduled";
}

function stateAt({ states }: RunRecordGroup, timeMs: number): CronJobState | undefined {
  return (states.findLast(({ fromMs }) => fromMs <= timeMs) ?? states[0])?.state;
}

function hasSlot({ schedule, timeZone }: CronJobState, slotMs: number, schedules: Schedules): boolean {
  const spec = { schedule, jobTemplate: {}, ...(timeZone === undefined ? {} : { timeZone }) };
  const parsed = schedules.parse(effectiveSchedule(spec, schedules));
  return "schedule" in parsed && parsed.schedule.next(slotMs - 1) === slotMs;
}
