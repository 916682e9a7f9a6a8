import {
  type CronJob,
  type DeepReadonly,
  type Job,
  type ObjectReference,
  formatTime,
  parseTime,
  secondsAsDurationMs,
} from "@kubewright/api";
import { type Schedule, goQuote } from "@kubewright/cron";

import type { CronJobDecision, CronJobOutcome, CronJobReason, MissedSlots } from "./decision.js";
import { jobFromTemplate, jobNameFor } from "./job-from-template.js";
import { type ReportedSlots, lastMissed, missedSlots } from "./missed-slots.js";
import {
  NEVER,
  type RecentSlot,
  type SlotSearch,
  delayUntilNextMs,
  mostRecentSlot,
  nextScheduleDelayMs,
} from "./schedule-slots.js";
import { type Schedules, effectiveSchedule, hasEmbeddedTimeZone } from "./schedules.js";
import { formatRfc1123 } from "./zoned-time.js";

/** An event to record on the CronJob. */
export interface PlannedEvent {
  readonly type: "Normal" | "Warning";
  readonly reason: string;
  readonly message: string;
}

/** The plan for the next run of a CronJob. */
export interface CronJobPlan {
  readonly events: readonly PlannedEvent[];
  /** The decision of the sync; for a plan with a start, the decision if the start succeeds. */
  readonly decision: Omit<CronJobDecision, "key" | "atMs">;
  readonly start?: StartPlan;
  /** Absent: no timer. Not positive: immediately. */
  readonly requeueAfterMs?: number;
  /** What the next plan need not report again. */
  readonly reported?: ReportedSlots;
}

export interface StartPlan {
  readonly slotMs: number;
  readonly job: DeepReadonly<Job>;
  /** Active Jobs to delete first (policy Replace). */
  readonly replace: readonly DeepReadonly<ObjectReference>[];
}

export interface PlanContext {
  readonly nowMs: number;
  readonly schedules: Schedules;
  /** What earlier plans reported. Only `missed` depends on it. */
  readonly reported?: ReportedSlots | undefined;
}

/**
 * Decides whether a CronJob starts a Job now. Its `status.active` must be up to date.
 *
 * The checks have upstream's order, which is observable: an unknown time zone is reported also for a suspended CronJob,
 * and a slot that was started before is not reported as blocked.
 *
 * @see kubernetes v1.36 pkg/controller/cronjob/cronjob_controllerv2.go syncCronJob
 */
export function planCronJob(cronJob: DeepReadonly<CronJob>, context: PlanContext): CronJobPlan {
  const { nowMs, schedules } = context;
  const spec = cronJob.spec;
  if (cronJob.metadata.deletionTimestamp != null) return stop(context, "beingDeleted", "the CronJob is being deleted");
  if (spec?.timeZone != null) {
    const error = schedules.zoneError(spec.timeZone);
    if (error !== undefined) {
      const message = `invalid timeZone: ${goQuote(spec.timeZone)}: ${error}`;
      return stop(context, "unknownTimeZone", message, [warning("UnknownTimeZone", message)]);
    }
  }
  if (spec?.suspend === true) return stop(context, "suspended", "the CronJob is suspended");

  const events: PlannedEvent[] = [];
  const text = spec?.schedule ?? "";
  if (hasEmbeddedTimeZone(text)) events.push(unsupportedSchedule(text));
  const parsed = schedules.parse(effectiveSchedule(spec, schedules));
  if (!("schedule" in parsed)) {
    const message = `unparseable schedule: ${goQuote(text)} : ${parsed.error}`;
    return stop(context, "unparseableSchedule", message, [...events, warning("UnparseableSchedule", message)]);
  }

  const search = slotSearch(cronJob, parsed.schedule);
  const recent = mostRecentSlot(search, nowMs);
  if (recent === undefined) {
    const message = `invalid schedule: ${text} : time difference between two schedules is less than 1 second`;
    return stop(context, "invalidSchedule", message, [...events, warning("InvalidSchedule", message)]);
  }
  if (recent.missed === "many" && recent.slotMs !== undefined) events.push(TOO_MANY_MISSED);
  const unlimited =
    search.startingDeadlineSeconds === undefined
      ? recent
      : mostRecentSlot({ ...search, startingDeadlineSeconds: undefined }, nowMs);
  const missed = missedSlots({ schedule: parsed.schedule, nowMs, recent, unlimited, reported: context.reported });
  const slot = decideSlot(cronJob, recent, missed, context);
  // A slot that Forbid blocks may still start late: it counts as missed when it can no longer start.
  const finalSlotMs =
    recent.slotMs !== undefined && slot.decision.reason === "stillActive" ? recent.slotMs - 1 : recent.slotMs;
  const reportedUpToMs = latest(finalSlotMs ?? lastMissed(missed, nowMs), context.reported?.upToMs);
  // Computed from the CronJob after the start: slots of a fixed interval follow the last started slot.
  const requeueAfterMs =
    slot.start === undefined
      ? delayUntilNextMs(unlimited, parsed.schedule, nowMs)
      : nextScheduleDelayMs({ ...search, lastScheduleMs: slot.start.slotMs }, nowMs);
  return {
    events: slot.event === undefined ? events : [...events, slot.event],
    decision: {
      ...slot.decision,
      missed,
      ...(requeueAfterMs === NEVER ? {} : { nextSyncMs: nowMs + requeueAfterMs }),
    },
    ...(slot.start === undefined ? {} : { start: slot.start }),
    requeueAfterMs,
    ...(reportedUpToMs === undefined ? {} : { reported: { upToMs: reportedUpToMs } }),
  };
}

function latest(a: number | undefined, b: number | undefined): number | undefined {
  return a === undefined || b === undefined ? (a ?? b) : Math.max(a, b);
}

interface SlotPlan {
  readonly decision: Omit<CronJobPlan["decision"], "missed">;
  readonly event?: PlannedEvent;
  readonly start?: StartPlan;
}

function decideSlot(
  cronJob: DeepReadonly<CronJob>,
  { slotMs }: RecentSlot,
  missed: readonly MissedSlots[],
  { nowMs, schedules }: PlanContext,
): SlotPlan {
  if (slotMs === undefined) return nothingDue(missed, nowMs);
  const jobName = jobNameFor(cronJob.metadata.name ?? "", slotMs);
  const slotFields = { slotMs, jobName };
  const active = cronJob.status?.active ?? [];
  const { concurrencyPolicy, startingDeadlineSeconds } = cronJob.spec ?? {};
  // The search excludes such slots, except when the deadline overflows to the one duration without a negation.
  if (startingDeadlineSeconds != null && slotMs + secondsAsDurationMs(startingDeadlineSeconds) < nowMs) {
    const event = warning("MissSchedule", `Missed scheduled time to start a job: ${formatRfc1123(slotMs)}`);
    return { decision: decision("skipped", "deadlinePassed", event.message, slotFields), event };
  }
  const listed = active.some((job) => job.name === jobName && job.namespace === cronJob.metadata.namespace);
  if (listed || parseTime(cronJob.status?.lastScheduleTime) === slotMs) {
    return {
      decision: decision("alreadyProcessed", "alreadyStarted", `job ${jobName} was started already`, slotFields),
    };
  }
  const activeJobs = active.map(({ name }) => name ?? "");
  if (concurrencyPolicy === "Forbid" && active.length > 0) {
    return {
      decision: decision("skipped", "stillActive", JOB_ALREADY_ACTIVE.message, { ...slotFields, activeJobs }),
      event: JOB_ALREADY_ACTIVE,
    };
  }
  const replace = concurrencyPolicy === "Replace" ? active : [];
  return {
    decision: decision(replace.length > 0 ? "replaced" : "ran", "due", `Created job ${jobName}`, {
      ...slotFields,
      ...(replace.length > 0 ? { activeJobs } : {}),
    }),
    start: { slotMs, job: jobFromTemplate(cronJob, slotMs, schedules), replace },
  };
}

function nothingDue(missed: readonly MissedSlots[], nowMs: number): SlotPlan {
  const last = missed.at(-1);
  const slotMs = last?.exact === true ? last.slotsMs.at(-1) : undefined;
  if (last === undefined)
    return { decision: decision("notDue", "notDue", `no slot is due at ${formatTime(nowMs)}`, {}) };
  const message = `${last.count} missed, none started: ${MISS_TEXT[last.reason] ?? last.reason}`;
  return { decision: decision("skipped", last.reason, message, slotMs === undefined ? {} : { slotMs }) };
}

const MISS_TEXT: Partial<Record<CronJobReason, string>> = {
  deadlinePassed: "startingDeadlineSeconds had passed",
  overlooked: "the most recent slot lies too far back for this schedule's first interval",
  suspended: "the CronJob was suspended",
};

/** Returns the inputs of the slot search from the CronJob. */
export function slotSearch(cronJob: DeepReadonly<CronJob>, schedule: Schedule): SlotSearch {
  return {
    schedule,
    createdMs: parseTime(cronJob.metadata.creationTimestamp) ?? 0,
    lastScheduleMs: parseTime(cronJob.status?.lastScheduleTime),
    startingDeadlineSeconds: cronJob.spec?.startingDeadlineSeconds ?? undefined,
  };
}

type StopReason = "beingDeleted" | "unknownTimeZone" | "suspended" | "unparseableSchedule" | "invalidSchedule";

function stop(
  { reported }: PlanContext,
  reason: StopReason,
  message: string,
  events: readonly PlannedEvent[] = [],
): CronJobPlan {
  return {
    events,
    decision: { ...decision(reason === "suspended" ? "skipped" : "stopped", reason, message, {}), missed: [] },
    reported: { upToMs: reported?.upToMs ?? NEVER, stoppedBy: reason },
  };
}

function decision(
  outcome: CronJobOutcome,
  reason: CronJobReason,
  message: string,
  slotFields: Pick<CronJobDecision, "slotMs" | "jobName" | "activeJobs">,
): Omit<CronJobPlan["decision"], "missed"> {
  return { outcome, reason, message, ...slotFields };
}

function warning(reason: string, message: string): PlannedEvent {
  return { type: "Warning", reason, message };
}

function unsupportedSchedule(schedule: string): PlannedEvent {
  return warning(
    "UnsupportedSchedule",
    `CRON_TZ or TZ used in schedule ${goQuote(schedule)} is not officially supported, see https://kubernetes.io/docs/concepts/workloads/controllers/cron-jobs/ for more details`,
  );
}

const TOO_MANY_MISSED = warning(
  "TooManyMissedTimes",
  "too many missed start times. Set or decrease .spec.startingDeadlineSeconds or check clock skew",
);

const JOB_ALREADY_ACTIVE: PlannedEvent = {
  type: "Normal",
  reason: "JobAlreadyActive",
  message: "Not starting job because prior execution is running and concurrency policy is Forbid",
};
