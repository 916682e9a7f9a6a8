import { type CronJob, type DeepReadonly, parseTime } from "@kubewright/api";
import { type MissedSlots, type Schedules, effectiveSchedule, slotsBetween } from "@kubewright/cronjob";

import { skipText } from "../text/run-row-text.js";
import type { EventFact } from "./explain-events.js";
import type { MissedRuns } from "./missed-runs.js";
import type { PastRun } from "./past-runs.js";

export interface RunHistory {
  readonly cronJob: DeepReadonly<CronJob>;
  /** Runs whose Jobs still exist, newest first. */
  readonly runs: readonly PastRun[];
  readonly events: readonly EventFact[];
  readonly schedules: Schedules;
  readonly nowMs: number;
}

type Cause = Pick<MissedRuns, "reason" | "why">;

/**
 * Returns the slots between two runs that have no Job, newest first. Consecutive slots with one cause are one entry.
 *
 * Slots are left out where their Jobs may have been deleted, by a history limit or `ttlSecondsAfterFinished`, and where
 * the CronJob may have had another schedule.
 */
export function skippedBetweenRuns({ cronJob, runs, events, schedules, nowMs }: RunHistory): MissedRuns[] {
  const parsed = schedules.parse(effectiveSchedule(cronJob.spec, schedules));
  if (!("schedule" in parsed)) return [];
  const slots = runs.flatMap(({ slotMs, madeByHand }) => (slotMs === undefined || madeByHand ? [] : [slotMs]));
  const ascending = [...new Set(slots)].sort((a, b) => a - b);
  const knownFromMs = completeSinceMs(cronJob, runs, nowMs);
  const found: MissedRuns[] = [];
  for (const [index, toMs] of ascending.entries()) {
    const fromMs = ascending[index - 1];
    if (fromMs === undefined || toMs <= knownFromMs) continue;
    const between = slotsBetween(parsed.schedule, Math.max(fromMs, knownFromMs), toMs - 1);
    const evidence = { cronJob, runs, events, nextRunMs: toMs };
    found.push(...byCause(between, (slotMs) => causeOf(slotMs, evidence)));
  }
  return found.reverse();
}

/** Returns the time after which every Job of the CronJob still exists and the schedule is the present one. */
function completeSinceMs({ metadata, spec }: DeepReadonly<CronJob>, runs: readonly PastRun[], nowMs: number): number {
  const ttlSeconds = spec?.jobTemplate?.spec?.ttlSecondsAfterFinished;
  const editsMs = (metadata.managedFields ?? [])
    .filter(({ subresource }) => !subresource)
    .map(({ time }) => parseTime(time) ?? Number.NEGATIVE_INFINITY);
  return Math.max(
    oldestKeptMs(runs, "Complete", spec?.successfulJobsHistoryLimit ?? DEFAULT_SUCCESSFUL_LIMIT),
    oldestKeptMs(runs, "Failed", spec?.failedJobsHistoryLimit ?? DEFAULT_FAILED_LIMIT),
    ttlSeconds == null ? Number.NEGATIVE_INFINITY : nowMs - ttlSeconds * 1000,
    ...editsMs,
  );
}

/** Defaults of the API server. */
const DEFAULT_SUCCESSFUL_LIMIT = 3;
const DEFAULT_FAILED_LIMIT = 1;

/** Returns the slot of the oldest run of an outcome, if its history limit may have deleted older ones. */
function oldestKeptMs(runs: readonly PastRun[], outcome: PastRun["outcome"], limit: number): number {
  if (limit === 0) return Number.POSITIVE_INFINITY;
  const kept = runs.filter((run) => run.outcome === outcome);
  return kept.length < limit ? Number.NEGATIVE_INFINITY : Math.min(...kept.map(slotOf));
}

function slotOf({ slotMs, createdMs }: PastRun): number {
  return slotMs ?? createdMs;
}

interface Evidence extends Pick<RunHistory, "cronJob" | "runs" | "events"> {
  readonly nextRunMs: number;
}

function causeOf(slotMs: number, { cronJob: { spec }, runs, events, nextRunMs }: Evidence): Cause {
  const { concurrencyPolicy, startingDeadlineSeconds } = spec ?? {};
  if (concurrencyPolicy === "Replace")
    return { reason: "notKept", why: "no Job of it is left: a later run replaced it, or it was not started" };
  const blocker =
    concurrencyPolicy === "Forbid"
      ? runs.find(({ createdMs, endMs = Infinity }) => createdMs <= slotMs && endMs > slotMs)
      : undefined;
  if (blocker !== undefined) {
    const deadlineMs = startingDeadlineSeconds == null ? Infinity : slotMs + startingDeadlineSeconds * 1000;
    const reason = deadlineMs < Math.min(blocker.endMs ?? Infinity, nextRunMs) ? "deadlinePassed" : "stillActive";
    return { reason, why: skipText(reason, [blocker.job]) };
  }
  const failed = events.findLast(
    ({ reason, firstMs, lastMs }) => reason === "FailedCreate" && lastMs >= slotMs && firstMs < nextRunMs,
  );
  if (failed !== undefined)
    return { reason: "creationFailed", why: `creating a Job failed (${failed.count} times): ${failed.message}` };
  const notLooked = "no controller was running, or the CronJob was suspended then";
  return startingDeadlineSeconds == null
    ? { reason: "notLooked", why: notLooked }
    : {
        reason: "deadlinePassed",
        why: `not started within startingDeadlineSeconds (${startingDeadlineSeconds}): ${notLooked}`,
      };
}

/** Groups consecutive slots with one cause. Slots that are counted and not listed have the cause of the last one. */
function byCause(
  { slotsMs, count, exact }: Omit<MissedSlots, "reason">,
  causeAt: (slotMs: number) => Cause,
): MissedRuns[] {
  const groups: { readonly cause: Cause; readonly slotsMs: number[] }[] = [];
  for (const slotMs of slotsMs) {
    const cause = causeAt(slotMs);
    const last = groups.at(-1);
    if (last?.cause.why === cause.why) last.slotsMs.push(slotMs);
    else groups.push({ cause, slotsMs: [slotMs] });
  }
  return groups.map(({ cause, slotsMs: own }, index) => {
    const isComplete = exact || index < groups.length - 1;
    return {
      ...cause,
      count: own.length + (isComplete ? 0 : count - slotsMs.length),
      exact: isComplete,
      firstMs: own[0]!,
      ...(isComplete ? { lastMs: own.at(-1)! } : {}),
    };
  });
}
