import { finishedCondition, parseTime } from "@kubewright/api";

import type { Invariant, InvariantChecks } from "../invariant.js";
import type { World } from "../world.js";
import { type CronJobRecord, cronRecordsOf, hasActive } from "./cron-records.js";
import { clockMayBeWrong } from "./plan-settings.js";
import { type ScheduleCache, isRelative, scheduleCacheOf } from "./schedule-cache.js";
import { isBeingDeleted, nameOf } from "./stored-objects.js";

const SLACK_MS = 10_000;
const CLEANED_MS = 60_000;

/** Upstream: pkg/controller/cronjob/cronjob_controllerv2.go. */
export const cronJobsProgress: Invariant = {
  name: "L5 CronJobs make progress",
  sentence:
    "A slot after the last fault starts within one period and 10 s, unless the CronJob is " +
    "suspended, the deadline has passed, or Forbid applies because a Job is active.",
  watch(world, violated): InvariantChecks {
    const records = cronRecordsOf(world);
    const schedules = scheduleCacheOf(world);
    return {
      atRest() {
        if (clockMayBeWrong(world)) return;
        for (const cronJob of records.cronJobs.values()) {
          const wrong = cronJob.gone ? undefined : missedSlotProblem(cronJob, world, schedules);
          if (wrong !== undefined) violated(nameOf(cronJob.object, "CronJob"), wrong);
        }
      },
    };
  },
};

function missedSlotProblem(cronJob: CronJobRecord, world: World, schedules: ScheduleCache): string | undefined {
  const { object, editedMs, activeMs, refusedMs, backsOffUntilMs } = cronJob;
  const { spec, status } = object;
  if (spec === undefined || spec.suspend === true || isBeingDeleted(object)) return undefined;
  const deadline = spec.startingDeadlineSeconds;
  // With a short deadline a slot is easily missed; relative slots with a deadline never come, because they count from
  // now.
  if (deadline != null && (deadline <= 10 || isRelative(spec))) return undefined;
  const schedule = schedules.of(spec);
  const lastMs = parseTime(status?.lastScheduleTime) ?? -Infinity;
  const createdMs = parseTime(object.metadata.creationTimestamp) ?? 0;
  // A foreign Job with the slot's name (X12) needs another event to continue: its creation is refused.
  if (spec.concurrencyPolicy === "Forbid" && hasActive(cronJob)) return undefined;
  const blockedMs = spec.concurrencyPolicy === "Forbid" ? activeMs : -Infinity;
  const freeMs = Math.max(world.healedMs, createdMs, editedMs, refusedMs, backsOffUntilMs, blockedMs);
  // Relative slots count from the last one.
  const fromMs = isRelative(spec) ? Math.max(lastMs, createdMs) : freeMs;
  const slotMs = nextFrom(fromMs, freeMs);
  const after = slotMs === undefined ? undefined : schedule?.next(slotMs);
  if (slotMs === undefined || after === undefined || lastMs >= slotMs) return undefined;
  if (after + SLACK_MS > world.nowMs) return undefined;
  return `has not started the slot of ${new Date(slotMs).toISOString()}, nor a later one`;

  function nextFrom(startMs: number, minMs: number): number | undefined {
    let next = schedule?.next(startMs);
    for (let tries = 0; next !== undefined && next <= minMs && tries < 100_000; tries++) next = schedule?.next(next);
    return next;
  }
}

/** Upstream: cronjob_controllerv2.go cleanupFinishedJobs. */
export const historyLimitsConverge: Invariant = {
  name: "L6 history limits converge",
  sentence:
    "60 s after its last Job has finished, a CronJob owns no more finished Jobs than " +
    "its limits allow; after a refused request, once its next slot has come.",
  watch(world, violated): InvariantChecks {
    const records = cronRecordsOf(world);
    const schedules = scheduleCacheOf(world);
    /** A refused deletion is left to the next sync, which may be that of the next slot. */
    const isNextSyncDue = ({ object: { spec }, hinderedMs }: CronJobRecord, nowMs: number): boolean => {
      if (hinderedMs === -Infinity) return true;
      if (spec === undefined || spec.suspend === true || clockMayBeWrong(world)) return false;
      return (schedules.of(spec)?.next(hinderedMs) ?? Infinity) <= nowMs;
    };
    return {
      atRest() {
        const sinceMs = world.nowMs - CLEANED_MS;
        if (world.healedMs > sinceMs) return;
        for (const cronJob of records.cronJobs.values()) {
          const { object, jobs, gone, editedMs, hinderedMs } = cronJob;
          if (gone || Math.max(editedMs, hinderedMs) > sinceMs || object.spec === undefined) continue;
          if (!isNextSyncDue(cronJob, sinceMs)) continue;
          for (const [end, limit] of [
            ["Complete", object.spec.successfulJobsHistoryLimit ?? 3],
            ["Failed", object.spec.failedJobsHistoryLimit ?? 1],
          ] as const) {
            const kept = [...jobs.values()].filter(
              (run) =>
                !run.gone &&
                !isBeingDeleted(run.object) &&
                finishedCondition(run.object)?.type === end &&
                (run.finishedMs ?? world.nowMs) < sinceMs,
            );
            if (kept.length > limit)
              violated(
                nameOf(object, "CronJob"),
                `keeps ${kept.length} Jobs that are ${end}, and its limit is ${limit}`,
              );
          }
        }
      },
    };
  },
};
