import {
  FOREGROUND_DELETION_FINALIZER,
  type Job,
  ORPHAN_FINALIZER,
  compareTimes,
  finishedCondition,
  parseTime,
} from "@kubewright/api";

import type { Invariant, InvariantChecks } from "../invariant.js";
import type { ObservedRequest, Stored, StoredChange, World } from "../world.js";
import {
  type CronJobRecord,
  type CronJobRun,
  type StoredCronJob,
  cronRecordsOf,
  isUnfinished,
  jobKnownTo,
} from "./cron-records.js";
import { DisturbanceTracker } from "./disturbance-tracker.js";
import { hasFinalizer } from "./ownership-graph.js";
import { type ScheduleCache, isRelative, scheduleCacheOf } from "./schedule-cache.js";
import {
  CRON_JOBS,
  CRON_JOB_CONTROLLER,
  JOBS,
  isBeingDeleted,
  incarnationKeyOf,
  nameOf,
  ownerOfKind,
  uidOf,
} from "./stored-objects.js";

/** Maximum time until the controller notices the end of a Job. */
const NOTICED_MS = 60_000;
/** The same during the run: includes the time until another manager has taken over and synced everything. */
const TAKEN_OVER_MS = 200_000;

/** Upstream: pkg/controller/cronjob/cronjob_controllerv2.go syncCronJob. */
export const cronJobStatus: Invariant = {
  name: "S12 CronJob status",
  sentence:
    "lastScheduleTime is a slot and never decreases; nor does lastSuccessfulTime, which at rest is no earlier " +
    "than any success of a stored Job. active lists only Jobs that the CronJob owns; at rest exactly the " +
    "unfinished Jobs that the controller created, and no Job whose end it could have noticed for 200 s.",
  watch(world, violated): InvariantChecks {
    const records = cronRecordsOf(world);
    const schedules = scheduleCacheOf(world);
    const disturbances = new DisturbanceTracker(world, CRON_JOB_CONTROLLER);
    let lookedMs = world.nowMs;
    return {
      onScenarioEvent: (scenarioEvent) => disturbances.onScenarioEvent(scenarioEvent),
      onCacheEvent: (event) => disturbances.onCacheEvent(event),
      onChange(change) {
        const { resource, type, request } = change;
        if (resource !== CRON_JOBS || type !== "MODIFIED" || request?.component !== CRON_JOB_CONTROLLER) return;
        const record = records.cronJobs.get(uidOf(change.object));
        if (record === undefined) return;
        for (const wrong of statusFaults(record, change, schedules)) violated(nameOf(record.object, "CronJob"), wrong);
      },
      onTick() {
        if (world.nowMs - lookedMs < NOTICED_MS || disturbances.quietSinceMs > world.nowMs - TAKEN_OVER_MS) return;
        lookedMs = world.nowMs;
        for (const cronJob of records.cronJobs.values()) {
          const wrong = cronJob.gone ? undefined : unnoticedEndProblem(cronJob, world);
          if (wrong !== undefined) violated(nameOf(cronJob.object, "CronJob"), wrong);
        }
      },
      atRest() {
        for (const cronJob of records.cronJobs.values()) {
          if (cronJob.gone || cronJob.backsOffUntilMs > world.nowMs - NOTICED_MS) continue;
          const wrong = activeListProblem(cronJob, world.nowMs) ?? lastSuccessProblem(cronJob, world.nowMs);
          if (wrong !== undefined) violated(nameOf(cronJob.object, "CronJob"), wrong);
        }
      },
    };
  },
};

function* statusFaults(
  { specs, jobs }: CronJobRecord,
  { object, previous }: StoredChange,
  schedules: ScheduleCache,
): Iterable<string> {
  const { status: is }: StoredCronJob = object;
  const before: StoredCronJob | undefined = previous;
  const was = before?.status;
  for (const field of ["lastScheduleTime", "lastSuccessfulTime"] as const)
    if (was?.[field] != null && compareTimes(is?.[field], was[field]) < 0)
      yield `${field} goes back from ${was[field]} to ${is?.[field] ?? "none"}`;
  for (const { uid = "", name } of is?.active ?? [])
    if (!jobs.has(uid) && was?.active?.every((listed) => listed.uid !== uid) !== false)
      yield `lists ${name}, which it does not own`;
  const slotMs = parseTime(is?.lastScheduleTime);
  if (slotMs === undefined || is?.lastScheduleTime === was?.lastScheduleTime) return;
  if (!specs.some((spec) => isRelative(spec) || schedules.of(spec)?.next(slotMs - 1) === slotMs))
    yield `lastScheduleTime is ${is?.lastScheduleTime}, which is no slot`;
}

function activeListProblem({ object, jobs, refusedMs }: CronJobRecord, nowMs: number): string | undefined {
  const listed = new Set((object.status?.active ?? []).map(({ uid }) => uid));
  for (const { uid = "", name } of object.status?.active ?? []) {
    const run = jobs.get(uid);
    if (run === undefined) return `lists ${name}, which does not exist`;
    if (run.endedMs !== undefined && run.endedMs < nowMs - NOTICED_MS)
      return `lists ${name}, which ${run.gone ? "is gone, and " : ""}ended ${(nowMs - run.endedMs) / 1000} s ago`;
  }
  // A Job whose start the controller could not record is no longer its own: the controller reports UnexpectedJob.
  if (refusedMs > -Infinity || object.metadata.deletionTimestamp != null) return undefined;
  for (const run of jobs.values()) {
    const createdMs = parseTime(run.object.metadata.creationTimestamp) ?? 0;
    if (
      isUnfinished(run) &&
      run.slotMs !== undefined &&
      createdMs < nowMs - NOTICED_MS &&
      !listed.has(uidOf(run.object))
    )
      return `does not list ${run.object.metadata.name}, which is active`;
  }
  return undefined;
}

/** Returns a problem when a stored Job succeeded later than the status says. */
function lastSuccessProblem({ object, jobs }: CronJobRecord, nowMs: number): string | undefined {
  const last = object.status?.lastSuccessfulTime;
  for (const { object: job, gone, finishedMs = nowMs } of jobs.values()) {
    if (gone || finishedMs > nowMs - NOTICED_MS || finishedCondition(job)?.type !== "Complete") continue;
    const { completionTime } = job.status ?? {};
    if (completionTime != null && (last == null || compareTimes(last, completionTime) < 0))
      return `says that it succeeded last at ${last ?? "no time"}, and ${job.metadata.name} did so at ${completionTime}`;
  }
  return undefined;
}

/** Returns a problem when the status lists a Job that has been finished or deleted for long enough. */
function unnoticedEndProblem(cronJob: CronJobRecord, world: World): string | undefined {
  const { object, jobs, uid: ownerUid, refusedMs, backsOffUntilMs, lateEventMs } = cronJob;
  const sinceMs = world.nowMs - TAKEN_OVER_MS;
  if (isBeingDeleted(object) || Math.max(refusedMs, backsOffUntilMs, lateEventMs) > sinceMs) return undefined;
  for (const { uid = "", name = "" } of object.status?.active ?? []) {
    const run = jobs.get(uid);
    if (run?.endedMs === undefined || run.endedMs > sinceMs) continue;
    // Another owner's Job may have the name by now.
    const named = world.get<Job>(JOBS, object.metadata.namespace ?? "", name);
    if (named === undefined || ownerOfKind(named, "CronJob")?.uid === ownerUid)
      return `lists ${name}, which ${run.gone ? "is gone, and " : ""}ended ${(world.nowMs - run.endedMs) / 1000} s ago`;
  }
  return undefined;
}

/** Upstream: cronjob_controllerv2.go cleanupFinishedJobs, and its concurrency policy. */
export const historyLimits: Invariant = {
  name: "S13 history limits",
  sentence:
    "A CronJob deletes only its own finished Jobs beyond its history limits, oldest first, and with Replace the " +
    "Jobs that it lists as active; with background propagation, so that their pods are deleted too.",
  watch(world, violated): InvariantChecks {
    const records = cronRecordsOf(world);
    return {
      onChange(change) {
        const { resource, request, type, object, previous } = change;
        if (resource !== JOBS || request?.component !== CRON_JOB_CONTROLLER || type === "ADDED") return;
        const isDeletion = type === "DELETED" || (isBeingDeleted(object) && !isBeingDeleted(previous ?? object));
        if (request.verb !== "delete" || !isDeletion) return;
        const run = records.runs.get(uidOf(object));
        const wrong =
          run === undefined
            ? "which none controls"
            : (historyProblem(run, request) ?? propagationProblem(object, previous));
        if (wrong !== undefined) violated(nameOf(object, "Job"), `is deleted by ${CRON_JOB_CONTROLLER}, ${wrong}`);
      },
    };
  },
};

/** Returns a problem when the deletion orphans the pods, or waits for them. */
function propagationProblem(object: Stored, previous: Stored | undefined): string | undefined {
  for (const [finalizer, wrong] of [
    [ORPHAN_FINALIZER, "and leaves its pods behind"],
    [FOREGROUND_DELETION_FINALIZER, "and waits for its pods"],
  ] as const)
    if (previous !== undefined && hasFinalizer(object, finalizer) && !hasFinalizer(previous, finalizer)) return wrong;
  return undefined;
}

/** Explains why a Job must not be deleted. */
function historyProblem(run: CronJobRun, request: ObservedRequest): string | undefined {
  const { owner, object } = run;
  const end = finishedCondition(object)?.type;
  const shown = owner.shown.get(incarnationKeyOf(request));
  const replaces = owner.specs.some(({ concurrencyPolicy }) => concurrencyPolicy === "Replace");
  if (replaces) {
    const listed = [...(owner.object.status?.active ?? []), ...(shown?.status?.active ?? [])];
    if (listed.some(({ uid }) => uid === uidOf(object))) return undefined;
  }
  if (end === undefined) return "unfinished";
  const limits = owner.specs.map((spec) =>
    end === "Complete" ? (spec.successfulJobsHistoryLimit ?? 3) : (spec.failedJobsHistoryLimit ?? 1),
  );
  const incarnationKey = incarnationKeyOf(request);
  let others = 0;
  let older = 0;
  for (const other of owner.jobs.values()) {
    // Jobs that the controller could observe count, and Jobs that exist.
    const seen = jobKnownTo(other, request);
    if (seen === undefined || finishedCondition(seen)?.type !== end || other === run) continue;
    others++;
    if (startsBefore(seen, object) && !other.gone && !isBeingDeleted(other.object) && other.shown.has(incarnationKey))
      older++;
  }
  const min = Math.min(...limits);
  if (others + 1 <= min) return `of ${others + 1} Jobs that are ${end}, and ${min} are kept`;
  return older > 0 && others + 1 - min <= older ? `before ${older} older ones` : undefined;
}

function startsBefore(a: Stored<Job>, b: Stored<Job>): boolean {
  const order = compareTimes(a.status?.startTime, b.status?.startTime);
  return order === 0 ? (a.metadata.name ?? "") < (b.metadata.name ?? "") : order < 0;
}
