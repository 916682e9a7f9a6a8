import type { UnstructuredObject } from "@kubewright/api";

import type { ScenarioEventEntry } from "../faults/registry.js";
import type { WorkloadEntry } from "../scenario/scenario-schema.js";
import type { Target } from "../scenario/schema.js";
import type { Draw } from "./draw.js";
import { durationText } from "./duration-text.js";
import { type PodScript, drawJobSpec, drawPodScript, maxJobDurationMs, podTemplate } from "./jobs.js";
import { at, during } from "./plan-events.js";
import type { Swarm } from "./swarm.js";
import { type Subject, type Workload, mergeWorkloads } from "./workload.js";

/** A schedule and how long to simulate it: about a dozen slots at most. */
interface Timetable {
  readonly schedule: string;
  readonly timeZone?: string;
  readonly start: string;
  readonly periodMs: number;
  /** Duration of the simulation. */
  readonly spanMs: number;
  /**
   * Offset of the first slot from the start; later slots follow every `periodMs`, where the schedule is that simple.
   */
  readonly firstMs: number;
}

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
const START = "2026-01-01T00:00:00Z";

const every = (schedule: string, periodMs: number, spanMs: number): Timetable => ({
  schedule,
  start: START,
  periodMs,
  spanMs,
  firstMs: periodMs,
});

const FREQUENT: readonly Timetable[] = [
  every("* * * * *", MINUTE_MS, 15 * MINUTE_MS),
  every("*/5 * * * *", 5 * MINUTE_MS, 40 * MINUTE_MS),
  every("@every 90s", 90_000, 20 * MINUTE_MS),
  every("@every 6m", 6 * MINUTE_MS, 45 * MINUTE_MS),
  // Unevenly spaced: code that extrapolates from the first two slots is wrong in the gap.
  every("1-3,30 * * * *", MINUTE_MS, 75 * MINUTE_MS),
];

/** Several slots a minute or two apart, followed by a long gap. */
const UNEVEN: readonly Timetable[] = [
  every("1-3,30 * * * *", MINUTE_MS, 75 * MINUTE_MS),
  every("1,2,20 * * * *", MINUTE_MS, 45 * MINUTE_MS),
  every("2-4,25-27,50 * * * *", 2 * MINUTE_MS, 55 * MINUTE_MS),
];

/** Schedules relative to the last run. */
const RELATIVE: readonly Timetable[] = [
  every("@every 90s", 90_000, 20 * MINUTE_MS),
  every("@every 4m", 4 * MINUTE_MS, 30 * MINUTE_MS),
  every("@every 6m", 6 * MINUTE_MS, 45 * MINUTE_MS),
];

const RARE: readonly Timetable[] = [
  every("@hourly", HOUR_MS, 8 * HOUR_MS),
  { ...every("30 6-16/4 * * 1-5", 4 * HOUR_MS, 3 * DAY_MS), start: "2026-01-02T13:00:00Z", firstMs: 1.5 * HOUR_MS },
  { ...every("0 12 * * 3", 7 * DAY_MS, 14 * HOUR_MS), start: "2026-01-07T02:00:00Z", firstMs: 10 * HOUR_MS },
  { ...every("0 0 31 * *", 31 * DAY_MS, 8 * HOUR_MS), start: "2026-01-30T20:00:00Z", firstMs: 4 * HOUR_MS },
];

const zoned = (
  timeZone: string,
  schedule: string,
  start: string,
  { periodMs, spanMs, firstMs }: Pick<Timetable, "periodMs" | "spanMs" | "firstMs">,
): Timetable => ({ schedule, timeZone, start, periodMs, spanMs, firstMs });

const BERLIN = "Europe/Berlin";
const NEW_YORK = "America/New_York";

/** Hours with daylight saving changes, east and west of UTC, and a zone with a half-hour offset. */
const ZONED: readonly Timetable[] = [
  zoned(BERLIN, "30 2 * * *", "2026-03-28T22:00:00Z", daily(2.5, 30)),
  zoned(BERLIN, "0 5 29,30 3 *", "2026-03-28T23:00:00Z", daily(4, 30)),
  zoned(BERLIN, "*/30 1-3 * * *", "2026-10-24T22:00:00Z", { periodMs: HOUR_MS, spanMs: 8 * HOUR_MS, firstMs: HOUR_MS }),
  zoned(BERLIN, "0 2 * * *", "2026-10-24T23:00:00Z", daily(1, 27)),
  zoned(NEW_YORK, "15 2 * * *", "2026-03-08T04:00:00Z", daily(3, 30)),
  zoned(NEW_YORK, "0 */3 * * 0", "2026-03-08T04:00:00Z", {
    periodMs: 3 * HOUR_MS,
    spanMs: 10 * HOUR_MS,
    firstMs: HOUR_MS,
  }),
  zoned(NEW_YORK, "*/20 0-1,4 * * 0", "2026-11-01T03:00:00Z", {
    periodMs: 20 * MINUTE_MS,
    spanMs: 8 * HOUR_MS,
    firstMs: HOUR_MS,
  }),
  zoned(NEW_YORK, "0 0 1 * *", "2026-01-31T20:00:00Z", daily(9, 12)),
  zoned("Asia/Kolkata", "15 9 * * 1-5", "2026-01-01T03:00:00Z", daily(0.75, 27)),
];

function daily(firstHours: number, hours: number): Pick<Timetable, "periodMs" | "spanMs" | "firstMs"> {
  return { periodMs: DAY_MS, spanMs: hours * HOUR_MS, firstMs: firstHours * HOUR_MS };
}

/** Draws the start of a plan and its CronJobs, 1 or 2. Rare schedules bring a start shortly before their slots. */
export function drawCronJobs(draw: Draw, swarm: Swarm): { readonly start: string; readonly workload: Workload } {
  if (!swarm.has("cronJobs")) return { start: START, workload: mergeWorkloads([]) };
  const usual = swarm.has("unevenSchedules") ? UNEVEN : FREQUENT;
  const timetable = draw.fork("timetable").weighted([
    [draw.fork("frequent").pick(swarm.has("relativeSchedules") ? RELATIVE : usual), 88],
    [draw.fork("rare").pick(RARE), 7],
    [draw.fork("zoned").pick(ZONED), swarm.has("timeZones") ? 300 : 0],
  ]);
  const first = drawCronJob(draw.fork("cron-1"), swarm, timetable, 1);
  const isTwo = timetable.start === START && draw.fork("second").chance(0.3);
  const other = draw.fork("other timetable").pick(FREQUENT);
  const parts = isTwo ? [first, drawCronJob(draw.fork("cron-2"), swarm, other, 2)] : [first];
  return { start: timetable.start, workload: mergeWorkloads(parts) };
}

function drawCronJob(draw: Draw, swarm: Swarm, timetable: Timetable, number: number): Workload {
  const name = `cron-${number}`;
  const namespace = "default";
  const { periodMs, spanMs, firstMs, schedule, timeZone } = timetable;
  const { suspend: _suspend, managedBy: _managedBy, ...drawn } = drawJobSpec(draw.fork("job"), swarm);
  const spec = { ...drawn, parallelism: Math.min(drawn.parallelism ?? 1, 2), ...fewer(drawn.completions) };
  if (spec.successPolicy !== undefined && spec.completions !== drawn.completions) delete spec.successPolicy;
  if (spec.maxFailedIndexes !== undefined)
    spec.maxFailedIndexes = Math.min(spec.maxFailedIndexes, spec.completions ?? 0);
  const script = cronScript(draw.fork("pods"), swarm, spec, periodMs);
  const { restartPolicy: _restartPolicy, ...fields } = spec;
  const isSuspended = swarm.has("suspend") && draw.fork("suspended").chance(0.2);
  const suspension = drawSuspension(draw.fork("suspension"), swarm, timetable);
  const maxKept = swarm.has("tightHistory") ? 0 : 2;
  const manifest = {
    apiVersion: "batch/v1",
    kind: "CronJob",
    metadata: { name, namespace, labels: { app: name } },
    spec: {
      schedule,
      ...(timeZone === undefined ? {} : { timeZone }),
      concurrencyPolicy: draw.fork("policy").pick(["Allow", "Allow", "Forbid", "Replace"]),
      ...(draw.fork("deadline").chance(0.4)
        ? {
            startingDeadlineSeconds: draw.fork("seconds of deadline").weighted([
              [5, 46],
              [100, 46],
              // A deadline of 0 starts no Job at all.
              [0, 8],
            ]),
          }
        : {}),
      ...(swarm.has("tightHistory") || draw.fork("limits").chance(0.6)
        ? {
            successfulJobsHistoryLimit: draw.fork("successful").integer(0, maxKept),
            failedJobsHistoryLimit: draw.fork("failed").integer(0, maxKept),
          }
        : {}),
      ...(isSuspended ? { suspend: true } : {}),
      jobTemplate: {
        ...(draw.fork("marked").chance(0.5)
          ? { metadata: { labels: { tier: "runs" }, annotations: { "example.com/of": name } } }
          : {}),
        spec: { ...fields, template: podTemplate(draw.fork("template"), swarm, spec, script) },
      },
    },
  } satisfies UnstructuredObject;
  const target = { kind: "CronJob", namespace, name } as const;
  const resumeMs = draw.fork("resume").integer(1, Math.floor(spanMs / 2_000)) * 1_000;
  const events = isSuspended ? [at(resumeMs, { resume: target })] : [];
  const slots = Math.max(1, Math.min(6, Math.floor((spanMs - firstMs) / periodMs) + 1));
  const moments = Array.from({ length: slots }, (_, slot) => firstMs + slot * periodMs);
  return {
    manifests: [manifest],
    workloads: script.entries.map((entry): WorkloadEntry => ({
      select: { kind: "CronJob", namespace, name },
      ...entry,
    })),
    events: [...events, ...(suspension === undefined ? [] : [suspensionOf(suspension, target)])],
    subjects: [
      {
        kind: "CronJob",
        namespace,
        name,
        manifest,
        moments: [0, ...moments, ...moments.map((moment) => moment + script.startMs + script.runMs)],
        indexes: 0,
        schedules:
          spanMs <= HOUR_MS ? ["*/2 * * * *", "*/5 * * * *", "@every 90s", "@every 4m"] : ["15 */3 * * *", "@every 2h"],
      } satisfies Subject,
      ...drawRun(draw.fork("run"), swarm, { namespace, name }, timetable, script, moments),
    ],
    endMs: Math.max(spanMs, suspension?.untilMs ?? 0),
    rerunMs: Math.min(periodMs, 6 * MINUTE_MS) + Math.min(maxJobDurationMs(spec, script), 15 * MINUTE_MS),
  };
}

/** A CronJob has many Jobs, so each is small. */
function fewer(completions: number | undefined): { completions?: number } {
  return completions === undefined ? {} : { completions: Math.min(completions, 3) };
}

/** Draws Jobs that are shorter than the period, about as long, or longer. */
function cronScript(draw: Draw, swarm: Swarm, spec: Parameters<typeof drawPodScript>[2], periodMs: number): PodScript {
  const script = drawPodScript(draw, swarm, spec);
  // With a tight history limit, a Job that takes longer than a period blocks the next one.
  const usual = swarm.has("tightHistory") ? 5 : 50;
  const drawn = draw.fork("share of the period").weighted([
    [undefined, usual],
    [0.9, 20],
    [2.5, 30],
  ]);
  const share = swarm.has("longRuns") ? 2.5 : drawn;
  if (share === undefined) return script;
  const runMs = Math.round((Math.min(periodMs, HOUR_MS) * share) / 1_000) * 1_000;
  const [first, ...rest] = script.entries;
  return { ...script, runMs, entries: [{ ...first, duration: durationText(runMs) }, ...rest] };
}

/** Draws one of the CronJob's Jobs as a subject of user actions; its name follows from the slot. */
function drawRun(
  draw: Draw,
  swarm: Swarm,
  { namespace, name }: Pick<Subject, "name" | "namespace">,
  { start }: Timetable,
  { startMs, runMs }: PodScript,
  moments: readonly number[],
): Subject[] {
  if (!swarm.has("cronRuns")) return [];
  const slotMs = draw.fork("slot").pick(moments);
  const run = `${name}-${Math.floor((Date.parse(start) + slotMs) / MINUTE_MS)}`;
  const container = { name: "main", image: "registry.example.com/main:1" };
  return [
    {
      kind: "Job",
      namespace,
      name: run,
      manifest: {
        apiVersion: "batch/v1",
        kind: "Job",
        metadata: { name: run, namespace },
        spec: { backoffLimit: 1, template: { spec: { restartPolicy: "Never", containers: [container] } } },
      },
      moments: [Math.max(0, slotMs - 5_000), slotMs, slotMs + startMs + runMs],
      indexes: 0,
      isRun: true,
      schedules: [],
    },
  ];
}

interface Suspension {
  readonly atMs: number;
  readonly untilMs: number;
  readonly isForGood: boolean;
}

/**
 * Draws a suspension over some slots; for a frequent schedule also over more than 100, the number after which the
 * controller warns.
 */
function drawSuspension(draw: Draw, swarm: Swarm, { periodMs, spanMs }: Timetable): Suspension | undefined {
  if (!swarm.has("suspend") || !draw.chance(0.4)) return undefined;
  const isLong = periodMs <= 1.5 * MINUTE_MS && draw.fork("long").chance(0.65);
  const lengthMs = isLong ? 105 * periodMs : draw.fork("length").integer(1, 5) * Math.min(periodMs, HOUR_MS);
  const atMs = draw.fork("at").integer(1, Math.floor(spanMs / 1_000)) * 1_000;
  return { atMs, untilMs: atMs + lengthMs, isForGood: draw.fork("for good").chance(0.25) };
}

function suspensionOf({ atMs, untilMs, isForGood }: Suspension, suspend: Target): ScenarioEventEntry {
  return isForGood
    ? at(atMs, { patch: { ...suspend, with: { spec: { suspend: true } } } })
    : during(atMs, untilMs - atMs, { suspend });
}
