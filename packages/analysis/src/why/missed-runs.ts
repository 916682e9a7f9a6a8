import { type CronJob, type DeepReadonly, type Job, parseTime } from "@kubewright/api";
import type { CronJobPlan, MissReason, MissedSlots } from "@kubewright/cronjob";

import { SKIP_REASON_TEXTS, skipText } from "../text/run-row-text.js";
import type { EventFact } from "./explain-events.js";

/** Consecutive slots that were not started, with their cause. */
export interface MissedRuns {
  readonly reason: MissReason | "creationFailed" | "notLooked" | "notKept";
  readonly count: number;
  /** False when `count` is an estimate: more than 100 were missed. */
  readonly exact: boolean;
  readonly firstMs: number;
  /** Absent when only the number is known. */
  readonly lastMs?: number;
  readonly why: string;
}

export interface MissedEvidence {
  readonly cronJob: DeepReadonly<CronJob>;
  /** Unfinished Jobs that the CronJob lists as active. */
  readonly active: readonly DeepReadonly<Job>[];
  readonly events: readonly EventFact[];
}

/**
 * Returns the missed slots of a plan, split by cause. The plan knows only that a later slot was due or a deadline
 * passed. The active Jobs and the events show why the controller did not start them in time.
 */
export function missedRuns(plan: CronJobPlan, evidence: MissedEvidence): MissedRuns[] {
  return plan.decision.missed.flatMap((slots) => splitByCause(slots, evidence));
}

function splitByCause(slots: MissedSlots, evidence: MissedEvidence): MissedRuns[] {
  const blocker = blockerOf(evidence);
  // Slots are in order of time: the blocking Job held back the slots after its creation.
  const unblockedCount = blocker === undefined ? slots.slotsMs.length : countUpTo(slots.slotsMs, blocker.sinceMs);
  const blockedMs = slots.slotsMs.slice(unblockedCount);
  if (blockedMs.length === 0 || blocker === undefined)
    return [{ ...group(slots, slots.slotsMs), ...cause(slots, evidence) }];
  const reason = slots.reason === "deadlinePassed" ? "deadlinePassed" : "stillActive";
  const why = skipText(reason, [blocker.name]);
  const blocked: MissedRuns = { ...group(slots, blockedMs, slots.count - unblockedCount), reason, why };
  if (unblockedCount === 0) return [blocked];
  const earlier = slots.slotsMs.slice(0, unblockedCount);
  return [
    { ...group({ ...slots, exact: true }, earlier), ...cause({ ...slots, slotsMs: earlier }, evidence) },
    blocked,
  ];
}

function group(
  { exact, count }: MissedSlots,
  slotsMs: readonly number[],
  total = exact ? slotsMs.length : count,
): Pick<MissedRuns, "count" | "exact" | "firstMs" | "lastMs"> {
  const lastMs = exact ? slotsMs.at(-1) : undefined;
  return { count: total, exact, firstMs: slotsMs[0] ?? 0, ...(lastMs === undefined ? {} : { lastMs }) };
}

function countUpTo(sortedMs: readonly number[], limitMs: number): number {
  const index = sortedMs.findIndex((timeMs) => timeMs > limitMs);
  return index < 0 ? sortedMs.length : index;
}

function blockerOf({
  cronJob,
  active,
}: MissedEvidence): { readonly name: string; readonly sinceMs: number } | undefined {
  if (cronJob.spec?.concurrencyPolicy !== "Forbid") return undefined;
  const created = active.map(({ metadata }) => ({
    name: metadata.name ?? "",
    sinceMs: parseTime(metadata.creationTimestamp) ?? 0,
  }));
  return created.sort((a, b) => a.sinceMs - b.sinceMs)[0];
}

function cause(
  { reason, slotsMs, count }: MissedSlots,
  { cronJob, events }: MissedEvidence,
): Pick<MissedRuns, "reason" | "why"> {
  const lastEvent = (eventReason: string): EventFact | undefined =>
    events.findLast((event) => event.reason === eventReason && event.lastMs >= (slotsMs[0] ?? Infinity));
  const plural = count === 1 ? "it was" : "they were";
  switch (reason) {
    case "suspended":
      return { reason, why: SKIP_REASON_TEXTS.suspended };
    case "overlooked":
      return {
        reason,
        why: "no controller was running, and its search for the most recent slot, which goes by the schedule's first interval, does not reach back to them: they are lost",
      };
    case "deadlinePassed":
    case "superseded": {
      const failed = lastEvent("FailedCreate");
      if (failed !== undefined)
        return { reason: "creationFailed", why: `creating a Job failed (${failed.count} times): ${failed.message}` };
      if (lastEvent("JobAlreadyActive") !== undefined)
        return { reason: "stillActive", why: `a Job was still active when ${plural} due (concurrencyPolicy Forbid)` };
      const notLooked = "no controller was running, or the CronJob was suspended then";
      if (reason === "superseded")
        return { reason: "notLooked", why: `${notLooked}; only the most recent slot is started` };
      const seconds = cronJob.spec?.startingDeadlineSeconds;
      return { reason, why: `not started within startingDeadlineSeconds (${seconds}): ${notLooked}` };
    }
    default:
      return { reason, why: SKIP_REASON_TEXTS[reason] };
  }
}
