import { keyOf, parseTime } from "@kubewright/api";

import type { Invariant, InvariantChecks } from "../invariant.js";
import type { ObservedRequest, StoredChange, ReportedDecision } from "../world.js";
import {
  type CronJobRecord,
  type CronJobRun,
  type CronJobSpec,
  cronRecordsOf,
  firstActive,
  isUnfinished,
  versionsKnownTo,
  specsKnownTo,
} from "./cron-records.js";
import { DisturbanceTracker } from "./disturbance-tracker.js";
import { clockMayBeWrong } from "./plan-settings.js";
import { type ScheduleCache, isRelative, scheduleCacheOf } from "./schedule-cache.js";
import { CRON_JOB_CONTROLLER, JOBS, isBeingDeleted, incarnationKeyOf, nameOf, uidOf } from "./stored-objects.js";

type CronJobDecision = Extract<ReportedDecision, { readonly controller: "cronjob-controller" }>["decision"];

/** Longer than a sync waits: its timer's 100 ms, a tick of its queue, and a few round trips. */
const SLACK_MS = 70_000;
const ROUNDING_MS = 1000;

/** Upstream: pkg/controller/cronjob/cronjob_controllerv2.go, utils.go. */
export const oneJobPerSlot: Invariant = {
  name: "S11 one Job per slot",
  sentence:
    "A CronJob has at most one Job per slot, created after the slot and before its deadline. Without an " +
    "obstacle, such as a foreign Job or a stale cache, no slot is late or skipped. No Job starts beside " +
    "an active one with Forbid, beside one that is not being deleted with Replace, or while the CronJob " +
    "is suspended, as far as the controller's cache showed it before the sync.",
  watch(world, violated): InvariantChecks {
    const records = cronRecordsOf(world);
    const schedules = scheduleCacheOf(world);
    const disturbances = new DisturbanceTracker(world, CRON_JOB_CONTROLLER);
    return {
      onScenarioEvent: (scenarioEvent) => disturbances.onScenarioEvent(scenarioEvent),
      onCacheEvent(event) {
        disturbances.onCacheEvent(event);
      },
      onDecision({ controller, decision }) {
        if (controller !== CRON_JOB_CONTROLLER) return;
        for (const owner of records.cronJobs.values()) {
          if (owner.gone || keyOf(owner.object) !== decision.key) continue;
          const wrong = deadlineProblem(owner, decision);
          if (wrong !== undefined)
            violated(nameOf(owner.object, "CronJob"), `starts ${decision.jobName} for ${slotOf(decision)}, ${wrong}`);
        }
      },
      onChange(change) {
        const { request, type, resource, object } = change;
        if (resource !== JOBS || type !== "ADDED" || request?.component !== CRON_JOB_CONTROLLER) return;
        const run = records.runs.get(uidOf(object));
        if (run?.slotMs === undefined) return;
        const wrong = clockMayBeWrong(world)
          ? (duplicateProblem(run, request) ?? policyProblem(run, request))
          : (duplicateProblem(run, request) ??
            slotProblem(run, change, schedules) ??
            policyProblem(run, request) ??
            delayProblem(run, change, disturbances.disturbedMs) ??
            (disturbances.isDisturbed
              ? undefined
              : skippedSlotProblem(run, change, disturbances.disturbedMs, schedules)));
        if (wrong !== undefined)
          violated(nameOf(run.owner.object, "CronJob"), `starts ${nameOf(object, "Job")} for ${slotOf(run)}, ${wrong}`);
      },
    };
  },
};

function slotOf({ slotMs }: Partial<Pick<CronJobRun, "slotMs">>): string {
  return new Date(slotMs!).toISOString();
}

function duplicateProblem(run: CronJobRun, request: ObservedRequest): string | undefined {
  for (const other of run.owner.jobs.values()) {
    if (other === run || other.slotMs !== run.slotMs) continue;
    if (!other.gone) return `beside ${other.object.metadata.name}`;
    // A deleted Job that is not in the status known to the controller is started again: exception X11.
    const shownMs = lastScheduleMs(run.owner.shown.get(incarnationKeyOf(request)));
    const storedMs = lastScheduleMs(run.owner.object);
    if (Math.min(shownMs, storedMs) >= run.slotMs!) return `after ${other.object.metadata.name}, which is gone`;
  }
  return undefined;
}

function slotProblem(
  { slotMs = 0, owner }: CronJobRun,
  { atMs, request }: StoredChange,
  schedules: ScheduleCache,
): string | undefined {
  const specs = specsKnownTo(owner, request!);
  const isSlotOf = (spec: CronJobSpec): boolean =>
    isRelative(spec) ? slotMs % 1000 === 0 : schedules.of(spec)?.next(slotMs - 1) === slotMs;
  if (!specs.some(isSlotOf))
    return `which is no time of ${specs.map(({ schedule, timeZone }) => [schedule, timeZone].join(" ").trim()).join(" or ")}`;
  if (slotMs > atMs) return "which is yet to come";
  const createdMs = parseTime(owner.object.metadata.creationTimestamp) ?? 0;
  if (slotMs < createdMs) return "before it was created";
  const deadlineMs = longestDeadlineMs(owner);
  const lateMs = request!.sentMs - slotMs;
  if (lateMs > deadlineMs + SLACK_MS + ROUNDING_MS)
    return `${lateMs / 1000} s after it, and its deadline is ${deadlineMs / 1000} s`;
  return undefined;
}

/** Explains why a slot is started after its deadline, by the controller's own clock at its decision. */
function deadlineProblem(owner: CronJobRecord, { atMs, slotMs, outcome }: CronJobDecision): string | undefined {
  if (slotMs === undefined || !STARTED.has(outcome)) return undefined;
  const deadlineMs = longestDeadlineMs(owner);
  if (atMs - slotMs < deadlineMs) return undefined;
  return `decides ${(atMs - slotMs) / 1000} s after it, and its deadline is ${deadlineMs / 1000} s`;
}

const STARTED: ReadonlySet<string> = new Set(["ran", "replaced", "adopted"]);

function longestDeadlineMs({ specs }: CronJobRecord): number {
  const deadlines = specs.map(({ startingDeadlineSeconds }) => startingDeadlineSeconds ?? Infinity);
  return Math.max(...deadlines) * 1000;
}

function policyProblem({ owner }: CronJobRun, request: ObservedRequest): string | undefined {
  const known = versionsKnownTo(owner, request);
  if (known.length === 0) return undefined;
  const { spec } = owner.object;
  if (spec?.suspend === true && known.every((cronJob) => cronJob.spec?.suspend === true))
    return "while it is suspended";
  const policy = spec?.concurrencyPolicy;
  if (!known.every((cronJob) => cronJob.spec?.concurrencyPolicy === policy)) return undefined;
  // A controller whose cache does not show the status of the previous start may overlap with it: exception X13.
  if (policy === "Forbid" && known.every((cronJob) => firstActive(owner, cronJob) !== undefined))
    return `while ${firstActive(owner, known.at(-1))!.name} is active`;
  const left = policy === "Replace" ? firstToReplace(owner, known) : undefined;
  return left === undefined ? undefined : `beside ${left}, which it was to replace`;
}

/** Returns a Job that each of these versions, and the stored one, lists as active, and that is not being deleted. */
function firstToReplace(owner: CronJobRecord, known: readonly CronJobRecord["object"][]): string | undefined {
  const lists = [owner.object, ...known].map((cronJob) => new Set(cronJob.status?.active?.map(({ uid }) => uid)));
  for (const [uid, run] of owner.jobs)
    if (isUnfinished(run) && !isBeingDeleted(run.object) && lists.every((listed) => listed.has(uid)))
      return run.object.metadata.name;
  return undefined;
}

/** Explains why a slot is started too late. Each obstacle permits a delay until some time after its end. */
function delayProblem(run: CronJobRun, { atMs }: StoredChange, disturbedMs: number): string | undefined {
  const { owner, slotMs = 0 } = run;
  // After an edit, any later event starts a slot that has passed.
  if (owner.specs.length > 1) return undefined;
  // After a foreign Job with the slot's name, the CronJob waits for an event or for the next slot: exception X12.
  if (owner.foreignNames.has(run.object.metadata.name ?? "")) return undefined;
  const sinceMs = Math.max(
    slotMs,
    disturbedMs,
    owner.activeMs,
    owner.refusedMs,
    owner.backsOffUntilMs,
    owner.lateEventMs,
  );
  if (atMs - sinceMs <= SLACK_MS) return undefined;
  return `${(atMs - slotMs) / 1000} s after it, with nothing in its way for ${(atMs - sinceMs) / 1000} s`;
}

/** Returns a problem when an earlier slot was not started although nothing prevented it. */
function skippedSlotProblem(
  { owner, slotMs = 0 }: CronJobRun,
  { atMs }: StoredChange,
  disturbedMs: number,
  schedules: ScheduleCache,
): string | undefined {
  const { spec, metadata } = owner.object;
  const { startingDeadlineSeconds: deadline } = spec ?? {};
  // With a short deadline a slot is easily missed; relative slots with a deadline never come, because they count from
  // now.
  if (spec === undefined || (deadline != null && (deadline * 1000 <= SLACK_MS || isRelative(spec)))) return undefined;
  const earlier = [...owner.jobs.values()]
    .map((run) => run.slotMs ?? -Infinity)
    .filter((startedMs) => startedMs < slotMs);
  const lastMs = Math.max(lastScheduleMs(owner.object), parseTime(metadata.creationTimestamp) ?? 0, ...earlier);
  const freeMs = Math.max(
    lastMs,
    disturbedMs,
    owner.editedMs,
    owner.refusedMs,
    owner.backsOffUntilMs,
    owner.lateEventMs,
    spec.concurrencyPolicy === "Forbid" ? owner.activeMs : -Infinity,
  );
  const schedule = schedules.of(spec);
  // Relative slots count from the last one.
  let due = schedule?.next(isRelative(spec) ? lastMs : freeMs);
  while (due !== undefined && due <= freeMs) due = schedule?.next(due);
  if (due === undefined || due >= slotMs || atMs - due <= SLACK_MS) return undefined;
  return `and has skipped the slot of ${new Date(due).toISOString()}, with nothing in its way`;
}

function lastScheduleMs(cronJob: CronJobRecord["object"] | undefined): number {
  return parseTime(cronJob?.status?.lastScheduleTime) ?? -Infinity;
}
