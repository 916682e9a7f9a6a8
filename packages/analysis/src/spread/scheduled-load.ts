import type { CronJob, Pod } from "@kubewright/api";
import { type Schedule, ScheduleError, TimeZoneCache, parseSchedule } from "@kubewright/cron";

import type { Manifest } from "../input/manifest.js";
import { requestedCpuMillis } from "../resources/requested-cpu.js";
import { requestedMemoryBytes } from "../resources/requested-memory.js";
import { type Selection, isSelectedBy } from "../input/selection.js";
import { UserError } from "../errors/user-error.js";
import { expectedDurationMs } from "./expected-duration.js";
import { type MinuteField, readMinuteField } from "./minute-field.js";
import type { SpreadTask } from "./propose.js";

/** A CronJob with its runs in the window and their resource requests. */
export interface ScheduledLoad extends SpreadTask {
  readonly manifest: Manifest;
  readonly namespace: string;
  readonly name: string;
  readonly schedule: string;
  /** Parsed minute field of the schedule. Absent for a schedule without a minute of the hour. */
  readonly field?: MinuteField;
  /** Minutes after UTC's full hour at which the hours of its zone start. */
  readonly hourOffsetMinutes: number;
  readonly expectedMs: number;
  /** Requests of all pods of a run together. */
  readonly cpuMillis: number;
  readonly memoryBytes: number;
  /** Why the CronJob cannot be moved. Absent for one that can. */
  readonly fixedReason?: string;
}

/** Whole hours, in epoch milliseconds. */
export interface SpreadWindow {
  readonly startMs: number;
  readonly endMs: number;
}

export interface ScheduledLoadOptions {
  readonly window: SpreadWindow;
  /** Time zone of CronJobs without `timeZone`. */
  readonly localTimeZone: string;
  /** CronJobs that must not be moved. */
  readonly keep: readonly Selection[];
}

const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;
const DAY_MS = 86_400_000;
/** The starts and ends of this number of runs take 80 MB. */
const MAX_RUNS = 5_000_000;
/** Years ahead in which clock changes count. */
const CLOCK_CHANGE_YEARS = 2;

/**
 * Returns how far to plan beyond a window, so that runs that continue after its end overlap with the runs there. It is
 * the longest expected run in whole hours, at most a day.
 */
export function overhangMs(manifests: readonly Manifest[]): number {
  const longest = manifests.reduce(
    (max, { object }) => Math.max(max, object.kind === "CronJob" ? expectedRunMs(object as unknown as CronJob) : 0),
    0,
  );
  return Math.min(DAY_MS, Math.ceil(longest / HOUR_MS) * HOUR_MS);
}

/** Returns how many runs start in the first `minutes` of the window. */
export function runsWithin({ starts }: ScheduledLoad, minutes: number): number {
  return starts.filter((start) => start < minutes).length;
}

/** Returns the concurrent pods of a run, and how many rounds of them run one after the other. */
function podsOf({ spec }: CronJob): { readonly pods: number; readonly rounds: number } {
  const { parallelism = 1, completions = parallelism } = spec?.jobTemplate?.spec ?? {};
  const pods = Math.max(1, Math.min(parallelism, completions));
  return { pods, rounds: Math.max(1, Math.ceil(completions / pods)) };
}

function expectedRunMs(cronJob: CronJob): number {
  return expectedDurationMs(cronJob.spec?.jobTemplate?.spec?.template ?? {}) * podsOf(cronJob).rounds;
}

/**
 * Returns the CronJobs that are not suspended, with their runs in minutes.
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
    // The API server reports the error during the simulation.
    if (error instanceof ScheduleError) return undefined;
    throw error;
  }
}

/** Returns the slots from the start of the window to before its end, in minutes since its start. */
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
 * Returns a test for shifted minutes: whether the schedule fires in the same wall-clock hours, and as often, around
 * every clock change of the next two years. Between clock changes it does, because only the minute differs.
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
    // Starts at a full hour, so that all minutes of it are included.
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
