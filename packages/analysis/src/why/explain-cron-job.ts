import { type CronJob, type DeepReadonly, type Event, type Job, parseTime, secondsAsDurationMs } from "@kubewright/api";
import { explainNextRuns } from "@kubewright/cron";
import {
  type CronJobPlan,
  type PredictedCronJobSync,
  Schedules,
  effectiveSchedule,
  predictCronJobSync,
  hasEmbeddedTimeZone,
} from "@kubewright/cronjob";

import { type ClockRemark, clockRemarks } from "../time/clock-changes.js";
import { timeZoneHint } from "../time/time-zone-hint.js";
import { ZonedClock } from "../time/zoned-clock.js";
import { type EventFact, eventFacts, relevantEvents } from "./explain-events.js";
import { type MissedRuns, missedRuns } from "./missed-runs.js";
import { skewNotes } from "./moments.js";
import { type PastRun, pastRuns } from "./past-runs.js";
import { skippedBetweenRuns } from "./skipped-between-runs.js";
import { type Verdict, verdictOf } from "./verdict.js";

/** Observed state of a CronJob. */
export interface CronJobFacts {
  readonly cronJob: DeepReadonly<CronJob>;
  /** All Jobs of its namespace. */
  readonly jobs: readonly DeepReadonly<Job>[];
  /** Events of the CronJob; `undefined` when they cannot be read. */
  readonly events: readonly DeepReadonly<Event>[] | undefined;
  readonly nowMs: number;
}

/** Explanation of a CronJob's past and next decisions, as data. Members ending in `Ms` are instants. */
export interface CronJobExplanation {
  readonly kind: "CronJob";
  readonly namespace: string;
  readonly name: string;
  readonly atMs: number;
  readonly schedule: ScheduleFacts;
  readonly concurrencyPolicy: string;
  readonly suspended: boolean;
  readonly startingDeadlineSeconds?: number;
  readonly lastScheduleMs?: number;
  readonly lastSuccessfulMs?: number;
  /** Result of a sync now. */
  readonly now: Verdict;
  readonly next: NextRuns;
  /** Runs whose Jobs still exist, newest first. */
  readonly runs: readonly PastRun[];
  /** Slots between two of these runs that were not started, newest first. */
  readonly skipped: readonly MissedRuns[];
  /** Slots since the last run that were not started. */
  readonly missed: readonly MissedRuns[];
  readonly history: HistoryFacts;
  readonly events: readonly EventFact[];
  readonly notes: readonly string[];
}

export interface ScheduleFacts {
  readonly text: string;
  readonly timeZone: string;
  /** Source of the zone: the field, the schedule text, or the controller's process, which is assumed to use UTC. */
  readonly zoneFrom: "timeZone" | "schedule" | "controller";
}

export interface NextRuns {
  /** Whether these runs will start, or would start if the CronJob were resumed. */
  readonly holds: "asItIs" | "ifResumed";
  readonly runsMs: readonly number[];
  readonly remarks: readonly ClockRemark[];
}

export interface HistoryFacts {
  readonly successful: { readonly limit?: number; readonly kept: number };
  readonly failed: { readonly limit?: number; readonly kept: number };
  /** Jobs over the limits, which the next sync deletes. */
  readonly deletes: readonly string[];
}

const RUNS_AHEAD = 5;

/** Explains a CronJob from the objects of the cluster, with the decisions of the controller's own code. */
export function explainCronJob({ cronJob, jobs, events, nowMs }: CronJobFacts): CronJobExplanation {
  const { metadata, spec, status } = cronJob;
  const schedules = new Schedules();
  const schedule = scheduleFacts(cronJob, schedules);
  const clock = new ZonedClock(schedule.timeZone);
  const predicted = predictCronJobSync(cronJob, jobs, { nowMs, schedules });
  const resumed = spec?.suspend === true ? predictResumed(cronJob, jobs, nowMs, schedules) : undefined;
  const facts = eventFacts(events ?? []);
  const active = activeJobs(predicted);
  const runs = pastRuns(predicted.jobs);
  const lastScheduleMs = parseTime(status?.lastScheduleTime);
  const lastSuccessfulMs = parseTime(predicted.cronJob.status?.lastSuccessfulTime);
  const verdict = verdictOf(predicted, { clock, nowMs, active, events: facts, resumed });
  return {
    kind: "CronJob",
    namespace: metadata.namespace ?? "",
    name: metadata.name ?? "",
    atMs: nowMs,
    schedule,
    concurrencyPolicy: spec?.concurrencyPolicy ?? "Allow",
    suspended: spec?.suspend === true,
    ...(spec?.startingDeadlineSeconds == null ? {} : { startingDeadlineSeconds: spec.startingDeadlineSeconds }),
    ...(lastScheduleMs === undefined ? {} : { lastScheduleMs }),
    ...(lastSuccessfulMs === undefined ? {} : { lastSuccessfulMs }),
    now: verdict,
    next: nextRuns(cronJob, (resumed ?? predicted).plan, { nowMs, schedules, clock, suspended: resumed !== undefined }),
    runs,
    skipped: skippedBetweenRuns({ cronJob, runs, events: facts, schedules, nowMs }),
    missed: missedRuns((resumed ?? predicted).plan, { cronJob, active, events: facts }),
    history: historyFacts(cronJob, runs, predicted),
    events: relevantEvents(facts),
    notes: [
      ...notesOf(cronJob, predicted, schedule),
      ...deadlineNotes(cronJob),
      ...skewNotes([...facts.map(({ lastMs }) => lastMs), ...runs.map(({ createdMs }) => createdMs)], clock, nowMs),
      ...(events === undefined ? ["events cannot be read: the explanation does not use them"] : []),
    ],
  };
}

/** Predicts a sync of the CronJob without `spec.suspend`. */
function predictResumed(
  cronJob: DeepReadonly<CronJob>,
  jobs: readonly DeepReadonly<Job>[],
  nowMs: number,
  schedules: Schedules,
): PredictedCronJobSync | undefined {
  if (cronJob.spec === undefined) return undefined;
  const resumed = { ...cronJob, spec: { ...cronJob.spec, suspend: false } };
  const reported = { upToMs: Number.NEGATIVE_INFINITY, stoppedBy: "suspended" as const };
  return predictCronJobSync(resumed, jobs, { nowMs, schedules, reported });
}

function activeJobs({ cronJob, jobs }: PredictedCronJobSync): DeepReadonly<Job>[] {
  const uids = new Set((cronJob.status?.active ?? []).map(({ uid }) => uid));
  return jobs.filter(({ metadata }) => uids.has(metadata.uid));
}

export function scheduleFacts({ spec }: DeepReadonly<CronJob>, schedules: Schedules): ScheduleFacts {
  const text = spec?.schedule ?? "";
  const parsed = schedules.parse(effectiveSchedule(spec, schedules));
  const timeZone = "schedule" in parsed ? parsed.schedule.timeZone : (spec?.timeZone ?? "UTC");
  const zoneFrom = hasEmbeddedTimeZone(text) ? "schedule" : spec?.timeZone != null ? "timeZone" : "controller";
  return { text, timeZone, zoneFrom };
}

interface NextOptions {
  readonly nowMs: number;
  readonly schedules: Schedules;
  readonly clock: ZonedClock;
  readonly suspended: boolean;
}

/**
 * Returns the slots after now that the plan's timers lead to. None for a CronJob that starts nothing until it changes.
 */
export function nextRuns(
  { spec }: DeepReadonly<CronJob>,
  { decision, requeueAfterMs }: CronJobPlan,
  { nowMs, schedules, clock, suspended }: NextOptions,
): NextRuns {
  const holds = suspended ? "ifResumed" : "asItIs";
  const text = effectiveSchedule(spec, schedules);
  if (requeueAfterMs === undefined || decision.nextSyncMs === undefined || !("schedule" in schedules.parse(text)))
    return { holds, runsMs: [], remarks: [] };
  // A fixed delay counts from the slot that the controller waits for, and fields from the clock.
  const isDelay = text.includes("@every ");
  const firstMs = nowMs + requeueAfterMs - TIMER_DELAY_MS;
  const { runs, transitions } = explainNextRuns(text, {
    fromMs: isDelay ? firstMs : nowMs,
    count: isDelay ? RUNS_AHEAD - 1 : RUNS_AHEAD,
  });
  return {
    holds,
    runsMs: isDelay ? [firstMs, ...runs] : runs,
    remarks: clockRemarks(transitions, clock),
  };
}

/** Delay of the controller's timers after their slot. */
const TIMER_DELAY_MS = 100;

function historyFacts(
  { spec }: DeepReadonly<CronJob>,
  runs: readonly PastRun[],
  { deletes }: PredictedCronJobSync,
): HistoryFacts {
  const kept = (outcome: PastRun["outcome"]): number => runs.filter((run) => run.outcome === outcome).length;
  const limited = (limit: number | undefined): object => (limit == null ? {} : { limit });
  return {
    successful: { ...limited(spec?.successfulJobsHistoryLimit), kept: kept("Complete") },
    failed: { ...limited(spec?.failedJobsHistoryLimit), kept: kept("Failed") },
    deletes: deletes.map(({ metadata }) => metadata.name ?? ""),
  };
}

function notesOf(
  { spec }: DeepReadonly<CronJob>,
  { plan, completed, missing, unexpected }: PredictedCronJobSync,
  schedule: ScheduleFacts,
): string[] {
  const notes: string[] = [];
  const names = (list: readonly DeepReadonly<Job>[]): string => list.map(({ metadata }) => metadata.name).join(", ");
  if (plan.events.some(({ reason }) => reason === "TooManyMissedTimes")) {
    notes.push(
      "more than 100 slots were missed: the controller warns TooManyMissedTimes, and starts the most recent one all the same",
    );
  }
  if (schedule.zoneFrom === "controller")
    notes.push("no timeZone: slots go by the time zone the controller runs in, taken as UTC here");
  if (schedule.zoneFrom === "schedule" && spec?.timeZone != null)
    notes.push(`the schedule has a TZ of its own, so spec.timeZone (${spec.timeZone}) has no effect on it`);
  if (completed.length > 0)
    notes.push(`${names(completed)} finished but is still listed as active: no controller has synced it since`);
  if (missing.length > 0)
    notes.push(`${missing.join(", ")} is listed as active but gone: the next sync takes it off the list`);
  if (unexpected.length > 0) {
    notes.push(
      `${names(unexpected)} is unfinished and not listed as active: made by hand, or forgotten; it holds back no run`,
    );
  }
  if (spec?.timeZone != null && plan.decision.reason === "unknownTimeZone") {
    const hint = timeZoneHint(spec.timeZone);
    if (hint !== "") notes.push(`timeZone ${JSON.stringify(spec.timeZone)}${hint}`);
  }
  return notes;
}

/** The controller syncs about 100 ms after a slot, and ignores slots at or before now minus the deadline. */
function deadlineNotes({ spec }: DeepReadonly<CronJob>): string[] {
  const seconds = spec?.startingDeadlineSeconds;
  if (seconds == null) return [];
  if (seconds === 0) return ["startingDeadlineSeconds 0: no run ever starts"];
  if (secondsAsDurationMs(-seconds) >= 0)
    return [
      `startingDeadlineSeconds ${seconds}: more nanoseconds than the controller can count, so no run ever starts`,
    ];
  const every = /@every (\S+)$/.exec(spec?.schedule ?? "");
  if (every !== null)
    return ["startingDeadlineSeconds with @every: a deadline shorter than the interval keeps every run from starting"];
  return seconds < 10
    ? [`startingDeadlineSeconds ${seconds}: a controller that syncs more than ${seconds} s late drops the run silently`]
    : [];
}
