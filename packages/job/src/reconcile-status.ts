import { type VersionBehaviours, findCondition, formatTime, newestBehaviours } from "@kubewright/api";

import { COMPLETIONS_REACHED, type EndState } from "./end-state.js";
import { newJobCondition, withJobCondition } from "./job-condition.js";
import type { JobReason } from "./job-reason.js";
import { type JobObject, type PodObject, completionsOf, isSuspended } from "./job-spec.js";
import { type JobPlan, recordsBeforeDeleting } from "./plan-job.js";
import { type ChangedDraft, type StatusDraft, draftOf } from "./status-draft.js";

/** What became of a plan's pods, or is about to: what was observed, with what this sync creates and deletes. */
export interface PodOutcome {
  readonly active: number;
  readonly ready: number;
  readonly terminating: number;
  /** Pods that were to be deleted, and are not: a Job does not end before they are. */
  readonly undeleted: readonly PodObject[];
  /** The first refusal, if any: the sync writes the status, and then fails with it. */
  readonly error?: unknown;
}

/** A status that agrees with the pods, before they are accounted for. */
export interface ReconciledStatus {
  readonly draft: StatusDraft;
  /** Whether the status differs from the stored one in something worth a write. */
  readonly needsFlush: boolean;
  /** How the Job ends, if it is to be recorded in this sync. */
  readonly end?: EndState;
  /** Whether the Job was suspended or resumed in this sync. */
  readonly suspension?: "Suspended" | "Resumed";
  readonly reasons: readonly JobReason[];
}

/** Upstream: job_controller.go syncJob, from the management of pods to trackJobStatusAndRemoveFinalizers. */
export function reconcileStatus(
  job: JobObject,
  plan: JobPlan,
  outcome: PodOutcome,
  nowMs: number,
  behaviours: VersionBehaviours = newestBehaviours,
): ReconciledStatus {
  const stored = draftOf(job.status);
  const starts = stored.startTime === undefined && plan.startMs !== undefined;
  const counted = withCounts(starts ? { ...stored, startTime: formatTime(plan.startMs) } : stored, outcome);
  const { draft, changed: needsFlush } = counted;

  if (plan.end !== undefined) {
    const because = postponementReason(plan, outcome.undeleted);
    // That it has succeeded nothing can change. A failure must not be recorded while pods of it may go on running.
    if (because === undefined || recordsBeforeDeleting(plan))
      return { draft: withStartTime(draft, job, nowMs), needsFlush, end: plan.end, reasons: [] };
    return { draft, needsFlush, reasons: [{ type: "EndPostponed", end: plan.end, because }] };
  }
  if (isComplete(job, plan.succeeded, outcome.active)) {
    const reason: JobReason = { type: "Ending", end: COMPLETIONS_REACHED, deleting: 0 };
    return { draft: withStartTime(draft, job, nowMs), needsFlush, end: COMPLETIONS_REACHED, reasons: [reason] };
  }
  if (plan.pods === undefined) return { draft, needsFlush, reasons: [] };
  return reconcileSuspension(job, counted, nowMs, behaviours);
}

/**
 * The draft of a Job that ends, which must have started unless it wants nothing: suspending takes the start, and pods that were
 * there before may end it nevertheless. Upstream leaves it out, and every write is refused until the Job is resumed.
 */
function withStartTime(draft: StatusDraft, job: JobObject, nowMs: number): StatusDraft {
  if (draft.startTime !== undefined || completionsOf(job) === 0) return draft;
  return { ...draft, startTime: formatTime(nowMs) };
}

/** Why the Job cannot be declared ended yet: some active pod may be left. */
export function postponementReason(
  { expectationsSatisfied }: JobPlan,
  undeleted: readonly PodObject[],
): "DeletionFailed" | "ExpectationsPending" | undefined {
  if (undeleted.length > 0) return "DeletionFailed";
  return expectationsSatisfied ? undefined : "ExpectationsPending";
}

/** The draft with the numbers of pods. */
export function withCounts(draft: StatusDraft, { active, ready, terminating }: PodOutcome): ChangedDraft {
  const changed = draft.active !== active || draft.ready !== ready || draft.terminating !== terminating;
  return { draft: changed ? { ...draft, active, ready, terminating } : draft, changed };
}

/** Terminating pods do not matter here: they are waited for before the Job is declared complete. */
function isComplete(job: JobObject, succeeded: number, active: number): boolean {
  const completions = completionsOf(job);
  return active === 0 && (completions === undefined ? succeeded > 0 : succeeded >= completions);
}

function reconcileSuspension(
  job: JobObject,
  { draft, changed }: ChangedDraft,
  nowMs: number,
  { mutableSchedulingDirectivesForSuspendedJobs: clearsStartTime }: VersionBehaviours,
): ReconciledStatus {
  const suspended = isSuspended(job);
  if (!suspended && findCondition(draft.conditions, "Suspended") === undefined)
    return { draft, needsFlush: changed, reasons: [] };
  const condition = suspended
    ? newJobCondition("Suspended", "True", "JobSuspended", "Job suspended", nowMs)
    : newJobCondition("Suspended", "False", "JobResumed", "Job resumed", nowMs);
  const suspension = withJobCondition(draft.conditions, condition);
  if (!suspension.changed) return { draft, needsFlush: changed, reasons: [] };
  const startTime = suspended ? (clearsStartTime ? undefined : draft.startTime) : formatTime(nowMs);
  return {
    draft: { ...draft, conditions: suspension.conditions, startTime },
    needsFlush: true,
    suspension: suspended ? "Suspended" : "Resumed",
    reasons: suspended ? [] : [{ type: "Resumed" }],
  };
}
