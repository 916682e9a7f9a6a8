import { type DeepReadonly, type Job, parseTime, secondsAsDurationMs } from "@kubewright/api";
import type { CronJobOutcome, CronJobReason, PredictedCronJobSync } from "@kubewright/cronjob";

import { formatDuration } from "../time/duration.js";
import { SKIP_REASON_TEXTS } from "../text/run-row-text.js";
import type { ZonedClock } from "../time/zoned-clock.js";
import type { EventFact } from "./explain-events.js";

/** Result of one sync of a CronJob, with its reason. */
export interface Verdict {
  readonly outcome: CronJobOutcome;
  readonly reason: CronJobReason;
  /** One or two sentences for people. */
  readonly message: string;
  readonly slotMs?: number;
  readonly job?: string;
  /** Jobs that block the run, or that it replaces. */
  readonly activeJobs?: readonly string[];
  /** Time of the controller's next sync. Absent: not before a change. */
  readonly wakeMs?: number;
}

export interface VerdictContext {
  readonly clock: ZonedClock;
  readonly nowMs: number;
  readonly active: readonly DeepReadonly<Job>[];
  readonly events: readonly EventFact[];
  /** Predicted sync of a suspended CronJob if it were resumed. */
  readonly resumed: PredictedCronJobSync | undefined;
  /** Whether an edit causes the sync: a late start then does not mean that no controller is running. */
  readonly edited?: boolean;
}

/** Time after a slot within which a running controller starts the run. */
const PROMPT_MS = 10_000;

export function verdictOf(predicted: PredictedCronJobSync, context: VerdictContext): Verdict {
  const { plan, existing } = predicted;
  const { nextSyncMs, slotMs, jobName, activeJobs } = plan.decision;
  const { outcome, reason } = existing ?? plan.decision;
  return {
    outcome,
    reason,
    message: messageOf(predicted, context),
    ...(slotMs === undefined ? {} : { slotMs }),
    ...(jobName === undefined ? {} : { job: jobName }),
    ...(activeJobs === undefined ? {} : { activeJobs }),
    ...(nextSyncMs === undefined ? {} : { wakeMs: nextSyncMs }),
  };
}

function messageOf(predicted: PredictedCronJobSync, context: VerdictContext): string {
  const { plan, existing } = predicted;
  const { outcome, reason, message, slotMs, jobName = "" } = plan.decision;
  const { clock, nowMs, resumed } = context;
  const slot = slotMs === undefined ? "" : clock.brief(slotMs);
  switch (outcome) {
    case "ran":
    case "replaced":
      return startMessage(predicted, context);
    case "alreadyProcessed":
      return `nothing to do: the most recent run, of ${slot}, was started as ${jobName}`;
    case "notDue":
      return `nothing to do: no slot has come ${sinceText(predicted, clock)}`;
    case "skipped":
      if (reason === "stillActive") return heldBackMessage(predicted, context);
      if (reason === "suspended") return suspendedMessage(resumed, context);
      return `starts nothing: ${skippedText(reason, plan.decision.missed.at(-1)?.count ?? 0, slot)}`;
    case "stopped":
      if (reason === "beingDeleted") return "starts nothing: the CronJob is being deleted";
      return `starts nothing until it is changed: ${reason === "invalidSchedule" ? SKIP_REASON_TEXTS.invalidSchedule : message}`;
    default:
      return existing?.message ?? `${message} (${formatDuration(Math.max(0, nowMs - (slotMs ?? nowMs)))} ago)`;
  }
}

function startMessage(predicted: PredictedCronJobSync, context: VerdictContext): string {
  const { plan, existing } = predicted;
  const { outcome, slotMs = 0, jobName = "", activeJobs = [], missed } = plan.decision;
  const { clock, nowMs, events } = context;
  const slot = clock.brief(slotMs);
  if (existing?.outcome === "adopted")
    return `${existing.message}: it was created for ${slot}, but the status does not say so yet`;
  if (existing !== undefined) return `does not start the run of ${slot}: ${existing.message}`;
  const since = sinceText(predicted, clock);
  const slotText = missed.length > 0 ? `the most recent of the slots missed ${since}` : `the only slot ${since}`;
  const replacing = outcome === "replaced" ? `deletes ${activeJobs.join(", ")} (Replace) and ` : "";
  const lateMs = nowMs - slotMs;
  const verdict = `${replacing}starts a run at once: ${jobName}, for ${slot}, ${slotText}`;
  if (lateMs <= PROMPT_MS) return verdict;
  if (context.edited === true) return `${verdict}, ${formatDuration(lateMs)} late`;
  const failed = events.findLast((event) => event.reason === "FailedCreate" && event.lastMs >= slotMs);
  const why =
    failed === undefined
      ? "if this persists, no controller is running, or its requests are refused"
      : `its attempts fail: ${failed.message} (${failed.count} times, last ${clock.brief(failed.lastMs)})`;
  return `${verdict}, ${formatDuration(lateMs)} late; ${why}`;
}

/** Returns `since the run of Mon 2026-03-02 10:00 UTC`, or since the CronJob's creation. */
function sinceText({ cronJob }: PredictedCronJobSync, clock: ZonedClock): string {
  const lastMs = parseTime(cronJob.status?.lastScheduleTime);
  return lastMs === undefined ? "since its creation" : `since the run of ${clock.brief(lastMs)}`;
}

function heldBackMessage({ plan, cronJob }: PredictedCronJobSync, { clock, nowMs, active }: VerdictContext): string {
  const { slotMs = 0, activeJobs = [] } = plan.decision;
  const since = active
    .map((job) => parseTime(job.metadata.creationTimestamp))
    .filter((createdMs) => createdMs !== undefined)
    .sort((a, b) => a - b)[0];
  const running = since === undefined ? "" : ` for ${formatDuration(Math.max(0, nowMs - since))}`;
  const seconds = cronJob.spec?.startingDeadlineSeconds;
  const limit =
    seconds == null
      ? ""
      : ` and it is before ${clock.brief(slotMs + secondsAsDurationMs(seconds))} (startingDeadlineSeconds)`;
  return (
    `does not start the run of ${clock.brief(slotMs)}: ${activeJobs.join(", ")} has been active${running} and ` +
    `concurrencyPolicy is Forbid; it starts late, as soon as that Job ends, if no later slot is due by then${limit}`
  );
}

function suspendedMessage(resumed: PredictedCronJobSync | undefined, { clock }: VerdictContext): string {
  const decision = resumed?.plan.decision;
  if (decision?.slotMs === undefined) return "starts nothing: the CronJob is suspended";
  const start = resumed?.plan.start;
  const resumeText =
    start === undefined
      ? "resumed now, it would start nothing before its next slot"
      : `resumed now, it would start ${decision.jobName} at once, for ${clock.brief(start.slotMs)}`;
  return `starts nothing: the CronJob is suspended; ${resumeText}`;
}

function skippedText(reason: CronJobReason, count: number, slot: string): string {
  const slotsText = slot === "" || count !== 1 ? `${count} slots went by` : `the slot ${slot} went by`;
  return reason === "deadlinePassed"
    ? `${slotsText} and cannot be started any more: startingDeadlineSeconds passed`
    : `${slotsText} and is not started any more: too far back for the search, which goes by the schedule's first interval`;
}
