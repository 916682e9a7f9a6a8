import type { CronJob, Pod } from "@kubewright/api";
import { type Schedule, ScheduleError, TimeZoneCache, parseSchedule } from "@kubewright/cron";

import type { Manifest } from "../input/manifest.js";
import { requestedCpuMillis } from "../requested-cpu.js";
import { requestedMemoryBytes } from "../requested-memory.js";
import { type Selection, isSelectedBy } from "../selection.js";
import { UserError } from "../user-error.js";
import { expectedDurationMs } from "./expected-duration.js";
import { type MinuteField, readMinuteField } from "./minute-field.js";
import type { SpreadTask } from "./propose.js";

/** A CronJob with its runs in the window, and what they take. */
export interface ScheduledLoad extends SpreadTask {
  readonly manifest: Manifest;
  readonly namespace: string;
  readonly name: string;
  readonly schedule: string;
  /** What its fields are about; absent where it has no minute of the hour. */
  readonly field?: MinuteField;
  /** Minutes past UTC's full hour at which the hours of its zone begin. */
  readonly hourOffsetMinutes: number;
  readonly expectedMs: number;
  /** Of all pods of a run together. */
  readonly cpuMillis: number;
  readonly memoryBytes: number;
  /** Why it stays where it is; absent for one that may be moved. */
  readonly fixedReason?: string;
}

/** Whole hours. Epoch milliseconds. */
export interface SpreadWindow {
  readonly startMs: number;
  readonly endMs: number;
}

export interface ScheduledLoadOptions {
  readonly window: SpreadWindow;
  /** Zone of CronJobs without one. */
  readonly localTimeZone: string;
  /** Which are not to be moved. */
  readonly keep: readonly Selection[];
}

const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;
const DAY_MS = 86_400_000;
/** Their starts and ends take 80 MB. */
const MAX_RUNS = 5_000_000;
/** How far ahead changes of the clock count. */
const CLOCK_CHANGE_YEARS = 2;

/**
 * How far beyond a window to look, so that what still runs at its end meets what runs then: the longest expected run, in whole
 * hours, a day at most.
 */
export function overhangMs(manifests: readonly Manifest[]): number {
  const longest = manifests.reduce(
    (max, { object }) => Math.max(max, object.kind === "CronJob" ? expectedRunMs(object as unknown as CronJob) : 0),
    0,
  );
  return Math.min(DAY_MS, Math.ceil(longest / HOUR_MS) * HOUR_MS);
}

/** How many runs begin in the first minutes, so many. */
export function runsWithin({ starts }: ScheduledLoad, minutes: number): number {
  return starts.filter((start) => start < minutes).length;
}

/** Pods of a run at once, and how many times so many come one after the other. */
function podsOf({ spec }: CronJob): { readonly pods: number; readonly rounds: number } {
  const { parallelism = 1, completions = parallelism } = spec?.jobTemplate?.spec ?? {};
  const pods = Math.max(1, Math.min(parallelism, completions));
  return { pods, rounds: Math.max(1, Math.ceil(completions / pods)) };
}

function expectedRunMs(cronJob: CronJob): number {
  return expectedDurationMs(cronJob.spec?.jobTemplate?.spec?.template ?? {}) * podsOf(cronJob).rounds;
}

/**
 * The CronJobs of manifests that are not suspended, with their runs by the minute.
 *
 * @throws UserError when there are too many runs.
 */
export function scheduledLoads(
  manifests: readonly Manifest[],
  { window, localTimeZone, keep }: ScheduledLoadOptions,
): ScheduledLoad[] {
  const zones = new TimeZoneCache();
  let allRuns = 0;
  return manifests
    .filter(({ object }) => object.kind === "CronJob")
    .flatMap((manifest) => {
      const cronJob = manifest.object as unknown as CronJob;
      const { schedule: text, timeZone = localTimeZone, suspend, concurrencyPolicy } = cronJob.spec ?? {};
      if (suspend === true || typeof text !== "string") return [];
      const { namespace = "default", name } = cronJob.metadata;
      const read = (changed: string): Schedule => parseSchedule(changed, { timeZone, localTimeZone, zones });
      const schedule = parseOrUndefined(() => read(text));
      if (schedule === undefined) return [];
      const starts = startsOf(schedule, window, MAX_RUNS - allRuns);
      allRuns += starts.length;
      const { pods } = podsOf(cronJob);
      const expectedMs = expectedRunMs(cronJob);
      const minutes = Math.max(1, Math.ceil(expectedMs / MINUTE_MS));
      const pod = { metadata: {}, spec: cronJob.spec.jobTemplate?.spec?.template?.spec } as Pod;
      const isExclusive = concurrencyPolicy === "Forbid" || concurrencyPolicy === "Replace";
      const field = readMinuteField(text);
      const fixedReason = fixedReasonOf({ namespace, name: name ?? "", field, keep });
      const minute = field?.minutes[0] ?? 0;
      const canMove = fixedReason === undefined && field !== undefined;
      return [
        {
          manifest,
          namespace,
          name: name ?? "",
          schedule: text,
          starts,
          ends: starts.map((start, run) =>
            isExclusive ? Math.min(start + minutes, starts[run + 1] ?? Infinity) : start + minutes,
          ),
          pods,
          hourOffsetMinutes: hourOffsetMinutes(
            zones.get(schedule.timeZone)?.offsetAt(Math.floor(window.startMs / 1000)) ?? 0,
          ),
          expectedMs,
          cpuMillis: pods * requestedCpuMillis(pod),
          memoryBytes: pods * requestedMemoryBytes(pod),
          minute,
          earliest: canMove ? minute + field.earliest : minute,
          latest: canMove ? minute + field.latest : minute,
          runsInSameHours: canMove ? sameHoursTest(text, field, { read, window, zones }) : () => true,
          ...(field === undefined ? {} : { field }),
          ...(fixedReason === undefined ? {} : { fixedReason }),
        },
      ];
    });
}

/** @param offset - Seconds east of UTC. */
function hourOffsetMinutes(offset: number): number {
  return ((Math.round(-offset / 60) % 60) + 60) % 60;
}

function fixedReasonOf({
  namespace,
  name,
  field,
  keep,
}: {
  readonly namespace: string;
  readonly name: string;
  readonly field: MinuteField | undefined;
  readonly keep: readonly Selection[];
}): string | undefined {
  if (keep.some((selection) => isSelectedBy(selection, { namespace, name }))) return "kept";
  if (name === "") return "has no name";
  if (field === undefined) return "counts from its last run, not from the hour";
  if (field.earliest === field.latest) return "its minutes fill the hour";
  return undefined;
}

function parseOrUndefined(read: () => Schedule): Schedule | undefined {
  try {
    return read();
  } catch (error) {
    // The API server tells of it when it is played.
    if (error instanceof ScheduleError) return undefined;
    throw error;
  }
}

/** Minutes since the window began, of the slots from its start to before its end. */
function startsOf(schedule: Schedule, { startMs, endMs }: SpreadWindow, max: number): number[] {
  const starts: number[] = [];
  for (let atMs = schedule.next(startMs - 1); atMs !== undefined && atMs < endMs; atMs = schedule.next(atMs)) {
    starts.push(Math.floor((atMs - startMs) / MINUTE_MS));
    if (starts.length > max)
      throw new UserError(`there are more than ${MAX_RUNS.toLocaleString("en-US")} runs: take a shorter --for`);
  }
  return starts;
}

/**
 * Tells whether a schedule whose minutes are moved runs in the same hours of the wall clock, as often, around every change
 * of the clock in the next two years. Between them it does: only the minute differs.
 */
function sameHoursTest(
  text: string,
  field: MinuteField,
  {
    read,
    window,
    zones,
  }: { readonly read: (text: string) => Schedule; readonly window: SpreadWindow; readonly zones: TimeZoneCache },
): SpreadTask["runsInSameHours"] {
  const original = read(text);
  const zone = zones.get(original.timeZone);
  const from = Math.floor(window.startMs / 1000);
  const until = Math.max(window.endMs, window.startMs + CLOCK_CHANGE_YEARS * 365 * DAY_MS);
  const cached = new Map<number, boolean>([[field.minutes[0]!, true]]);
  let changes: readonly number[] | undefined;
  const hours = (schedule: Schedule, aroundMs: number): string => {
    const hoursSeen: number[] = [];
    const endMs = aroundMs + DAY_MS;
    // Begins with an hour, so that no minute of one is left out.
    const startMs = Math.floor((aroundMs - DAY_MS) / HOUR_MS) * HOUR_MS;
    for (let atMs = schedule.next(startMs - 1); atMs !== undefined && atMs < endMs; atMs = schedule.next(atMs))
      hoursSeen.push(Math.floor(zone!.wallAt(Math.floor(atMs / 1000)) / 3600));
    return hoursSeen.join();
  };
  return (minute) => {
    let keeps = cached.get(minute);
    if (keeps === undefined) {
      changes ??= zone?.transitions(from, Math.ceil(until / 1000)).map(({ at }) => at * 1000) ?? [];
      const moved = changes.length === 0 ? undefined : read(field.shiftedBy(minute - field.minutes[0]!));
      keeps = moved === undefined || changes.every((atMs) => hours(moved, atMs) === hours(original, atMs));
      cached.set(minute, keeps);
    }
    return keeps;
  };
}
