import { type CronJob, type DeepReadonly, type Job, formatTime } from "@kubewright/api";
import {
  type CronJobPlan,
  type PredictedCronJobSync,
  Schedules,
  effectiveSchedule,
  predictCronJobSync,
  hasEmbeddedTimeZone,
} from "@kubewright/cronjob";

import { formatDuration } from "../time/duration.js";
import { timeZoneHint } from "../time/time-zone-hint.js";
import { ZonedClock } from "../time/zoned-clock.js";
import { type NextRuns, type ScheduleFacts, nextRuns, scheduleFacts } from "./explain-cron-job.js";
import { verdictOf } from "./verdict.js";

export interface EditFacts {
  /** The stored CronJob; absent if it would be created. */
  readonly stored?: DeepReadonly<CronJob>;
  /** The CronJob of the file. */
  readonly changed: DeepReadonly<CronJob>;
  readonly jobs: readonly DeepReadonly<Job>[];
  readonly nowMs: number;
}

/** Effects of applying a changed CronJob, as data. Members ending in `Ms` are instants. */
export interface EditExplanation {
  readonly change: "create" | "update" | "none";
  readonly changes: readonly FieldChange[];
  /** Error with which the API server would refuse the change. */
  readonly refused?: string;
  /** Effects in order of time. */
  readonly effects: readonly string[];
  /** The first run after the edit, if the timers lead to one. */
  readonly firstRun?: { readonly atMs: number; readonly slotMs: number; readonly job: string };
  readonly schedule: ScheduleFacts;
  readonly scheduleBefore?: ScheduleFacts;
  readonly nextBefore?: NextRuns;
  readonly nextAfter?: NextRuns;
}

type Spec = NonNullable<DeepReadonly<CronJob>["spec"]>;

export interface FieldChange {
  readonly field: string;
  /** Absent: not set. */
  readonly before?: string;
  readonly after?: string;
}

/** Defaults that the API server sets for absent fields. */
const DEFAULTS = {
  concurrencyPolicy: "Allow",
  suspend: false,
  successfulJobsHistoryLimit: 3,
  failedJobsHistoryLimit: 1,
} as const;

const FIELDS = [
  "schedule",
  "timeZone",
  "concurrencyPolicy",
  "suspend",
  "startingDeadlineSeconds",
  "successfulJobsHistoryLimit",
  "failedJobsHistoryLimit",
] as const;

/**
 * Predicts the controller's reaction if the file's spec replaced the stored one now, by the rules of its update
 * handler. A change of schedule or zone only sets a timer for the next slot. Every other change causes an immediate
 * sync.
 *
 * @see kubernetes v1.36 pkg/controller/cronjob/cronjob_controllerv2.go updateCronJob
 */
export function explainEdit({ stored, changed, jobs, nowMs }: EditFacts): EditExplanation {
  const schedules = new Schedules();
  const spec = { ...DEFAULTS, ...changed.spec } as Spec;
  const after: DeepReadonly<CronJob> =
    stored === undefined
      ? { ...changed, metadata: { ...changed.metadata, creationTimestamp: formatTime(nowMs) }, spec, status: {} }
      : { ...stored, spec };
  const changes = fieldChanges(stored?.spec, spec);
  const schedule = scheduleFacts(after, schedules);
  const change = stored === undefined ? "create" : changes.length > 0 ? "update" : "none";
  const refused = validationError(stored, after, schedules);
  if (refused !== undefined) return { change, changes, refused, effects: [], schedule };

  const options = { nowMs, schedules };
  const predictedBefore = stored === undefined ? undefined : predictCronJobSync(stored, jobs, options);
  const predictedAfter = predictCronJobSync(after, jobs, options);
  const nextAfter = next(after, predictedAfter.plan, options);
  const clock = new ZonedClock(schedule.timeZone);
  const onlyTimer = stored !== undefined && changes.some(({ field }) => field === "schedule" || field === "timeZone");
  const outcome =
    change === "none"
      ? { effects: ["changes nothing the controller acts on"] }
      : onlyTimer
        ? timerEffects({ after, jobs, clock, before: predictedBefore?.plan, edited: predictedAfter.plan, ...options })
        : immediateEffects(predictedAfter, { clock, nowMs, created: stored === undefined });
  return {
    change,
    changes,
    ...outcome,
    schedule,
    ...(predictedBefore === undefined || stored === undefined
      ? {}
      : { scheduleBefore: scheduleFacts(stored, schedules), nextBefore: next(stored, predictedBefore.plan, options) }),
    nextAfter,
  };
}

/** Predicts an immediate sync, which follows a creation, and any edit that changes neither schedule nor zone. */
function immediateEffects(
  predicted: PredictedCronJobSync,
  { clock, nowMs, created }: { clock: ZonedClock; nowMs: number; created: boolean },
): Pick<EditExplanation, "effects" | "firstRun"> {
  const uids = new Set(predicted.cronJob.status?.active?.map(({ uid }) => uid));
  const active = predicted.jobs.filter(({ metadata }) => uids.has(metadata.uid));
  const verdict = verdictOf(predicted, { clock, nowMs, active, events: [], resumed: undefined, edited: true });
  const effects = [`${created ? "created now" : "the controller syncs immediately"}: ${verdict.message}`];
  const { start } = predicted.plan;
  if (start === undefined || predicted.existing !== undefined) return { effects };
  return { effects, firstRun: { atMs: nowMs, slotMs: start.slotMs, job: start.job.metadata.name ?? "" } };
}

interface TimerFacts {
  readonly after: DeepReadonly<CronJob>;
  readonly jobs: readonly DeepReadonly<Job>[];
  readonly before: CronJobPlan | undefined;
  /** Plan of a sync of the changed CronJob now. */
  readonly edited: CronJobPlan;
  readonly clock: ZonedClock;
  readonly nowMs: number;
  readonly schedules: Schedules;
}

/**
 * Predicts the effects of a changed schedule or zone, which cause no sync. The old timer stays. The next sync is at the
 * earlier of the two timers, or at any other change of the CronJob or its Jobs.
 */
function timerEffects(facts: TimerFacts): Pick<EditExplanation, "effects" | "firstRun"> {
  const { after, jobs, before, edited, clock, nowMs, schedules } = facts;
  const effects: string[] = [];
  if (after.spec?.suspend === true) return { effects: ["nothing starts while it is suspended"] };
  const newMs = edited.decision.nextSyncMs;
  if (newMs === undefined) return { effects: ["nothing starts any more: the new schedule never fires"] };
  effects.push(
    `does not start a run by itself: a change of schedule or zone only sets a timer${dueText(edited, clock, nowMs)}`,
  );
  const oldMs = before?.decision.nextSyncMs;
  const oldTimer = oldMs !== undefined && oldMs >= nowMs && oldMs < newMs ? oldMs : undefined;
  for (const wakeMs of oldTimer === undefined ? [newMs] : [oldTimer, newMs]) {
    const plan = predictCronJobSync(after, jobs, { nowMs: wakeMs, schedules }).plan;
    const timerName = wakeMs === newMs ? "the timer of the new schedule" : "the timer of the old schedule, which stays";
    if (plan.start === undefined) {
      if (wakeMs === newMs) effects.push(`at ${slotText(clock, wakeMs)} (${timerName}): ${plan.decision.message}`);
      continue;
    }
    const { slotMs, job } = plan.start;
    const name = job.metadata.name ?? "";
    const late = wakeMs - slotMs > 1000 ? `, ${formatDuration(wakeMs - slotMs)} late` : "";
    effects.push(
      `at ${slotText(clock, wakeMs)} (${timerName}) starts ${name}, for the slot ${clock.brief(slotMs)}${late}`,
    );
    return { effects, firstRun: { atMs: wakeMs, slotMs, job: name } };
  }
  return { effects };
}

/**
 * Describes a slot of the new schedule that is already due. The update handler ignores it, and any other sync starts
 * it.
 */
function dueText({ start }: CronJobPlan, clock: ZonedClock, nowMs: number): string {
  if (start === undefined) return "";
  const { slotMs, job } = start;
  return (
    `; but its slot ${clock.brief(slotMs)} lies after the last run, so any earlier sync (caused by a Job ` +
    `of it that ends, by another edit or by a restart of the controller) starts ${job.metadata.name} at once, ` +
    `${formatDuration(nowMs - slotMs)} late`
  );
}

/** Timers fire a tenth of a second after their slot. */
function slotText(clock: ZonedClock, timeMs: number): string {
  return clock.brief(Math.floor(timeMs / 1000) * 1000);
}

function next(
  cronJob: DeepReadonly<CronJob>,
  plan: CronJobPlan,
  { nowMs, schedules }: { nowMs: number; schedules: Schedules },
): NextRuns {
  const clock = new ZonedClock(scheduleFacts(cronJob, schedules).timeZone);
  return nextRuns(cronJob, plan, { nowMs, schedules, clock, suspended: false });
}

function fieldChanges(before: Spec | undefined, after: Spec): FieldChange[] {
  const shown = (value: Spec[(typeof FIELDS)[number]] | undefined): string | undefined =>
    value == null ? undefined : String(value);
  const changes: FieldChange[] = [];
  for (const field of FIELDS) {
    const [was, is] = [shown(before?.[field]), shown(after[field])];
    if (was !== is)
      changes.push({
        field,
        ...(was === undefined ? {} : { before: was }),
        ...(is === undefined ? {} : { after: is }),
      });
  }
  if (before !== undefined && !includesAll(before.jobTemplate, after.jobTemplate))
    changes.push({ field: "jobTemplate" });
  return changes;
}

/** Returns whether the stored value contains everything in the file. It also contains the API server's defaults. */
function includesAll(stored: unknown, expected: unknown): boolean {
  if (Array.isArray(expected)) {
    return (
      Array.isArray(stored) &&
      stored.length === expected.length &&
      expected.every((item, index) => includesAll(stored[index], item))
    );
  }
  if (typeof expected !== "object" || expected === null) return stored === expected || expected == null;
  if (typeof stored !== "object" || stored === null) return Object.keys(expected).length === 0;
  return Object.entries(expected).every(([key, value]) => includesAll((stored as Record<string, unknown>)[key], value));
}

/** Returns the API server's validation error for the schedule or the zone. */
function validationError(
  stored: DeepReadonly<CronJob> | undefined,
  { spec }: DeepReadonly<CronJob>,
  schedules: Schedules,
): string | undefined {
  const text = spec?.schedule ?? "";
  if (text === "") return "spec.schedule: Required value";
  const timeZone = spec?.timeZone;
  if (hasEmbeddedTimeZone(text) && !hasEmbeddedTimeZone(stored?.spec?.schedule ?? ""))
    return `spec.schedule: Invalid value: ${JSON.stringify(text)}: cannot use TZ or CRON_TZ in schedule, use timeZone field instead`;
  if (hasEmbeddedTimeZone(text) && timeZone != null)
    return `spec.schedule: Invalid value: ${JSON.stringify(text)}: cannot use both timeZone field and TZ or CRON_TZ in schedule`;
  const error =
    timeZone == null ? undefined : timeZone === "Local" ? "it must be named" : schedules.zoneError(timeZone);
  if (error !== undefined && timeZone !== stored?.spec?.timeZone)
    return `spec.timeZone: Invalid value: ${JSON.stringify(timeZone)}: ${error}${timeZoneHint(timeZone ?? "")}`;
  const parsed = schedules.parse(effectiveSchedule(spec, schedules));
  return "error" in parsed ? `spec.schedule: Invalid value: ${JSON.stringify(text)}: ${parsed.error}` : undefined;
}
