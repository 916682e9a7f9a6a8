import { type VersionBehaviours, findCondition, formatTime, newestBehaviours } from "@kubewright/api";

import { COMPLETIONS_REACHED, type EndState } from "./end-state.js";
import { newJobCondition, withJobCondition } from "./job-condition.js";
import type { JobReason } from "./job-reason.js";
import { type JobObject, type PodObject, completionsOf, isSuspended } from "./job-spec.js";
import { type JobPlan, recordsBeforeDeleting } from "./plan-job.js";
import { type ChangedDraft, type StatusDraft, draftOf } from "./status-draft.js";

/**
 * The state of the Job's pods after, or expected after, a plan: the observed pods with the creations and deletions of
 * this sync.
 */
export interface PodOutcome {
  readonly active: number;
  readonly ready: number;
  readonly terminating: number;
  /** Pods whose deletion failed: the Job does not end before they are deleted. */
  readonly undeleted: readonly PodObject[];
  /** The first rejection, if any. The sync writes the status and then fails with it. */
  readonly error?: unknown;
}

/** A status that agrees with the pods, before they are counted. */
export interface ReconciledStatus {
  readonly draft: StatusDraft;
  /** Whether the status differs from the stored one in a field that is worth a write. */
  readonly needsFlush: boolean;
  /** How the Job ends, if this sync records it. */
  readonly end?: EndState;
  /** Whether the Job was suspended or resumed in this sync. */
  readonly suspension?: "Suspended" | "Resumed";
  readonly reasons: readonly JobReason[];
}

/**
 * Computes the status from the plan and the outcome of its pods: counts, start time, suspension and end.
 *
 * Upstream: job_controller.go syncJob, from the management of pods to trackJobStatusAndRemoveFinalizers.
 */
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
    // A success is final. A failure must not be recorded while active pods of the Job may still run.
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
 * Adds a start time to the status of a Job that ends, unless it requires no completions. Suspending clears the start
 * time, and earlier pods may still end the Job. Upstream omits it, and every write is rejected until the Job is
 * resumed.
 */
function withStartTime(draft: StatusDraft, job: JobObject, nowMs: number): StatusDraft {
  if (draft.startTime !== undefined || completionsOf(job) === 0) return draft;
  return { ...draft, startTime: formatTime(nowMs) };
}

/** Returns why the Job cannot be declared ended yet: an active pod may be left. */
export function postponementReason(
  { expectationsSatisfied }: JobPlan,
  undeleted: readonly PodObject[],
): "DeletionFailed" | "ExpectationsPending" | undefined {
  if (undeleted.length > 0) return "DeletionFailed";
  return expectationsSatisfied ? undefined : "ExpectationsPending";
}

/** Returns the draft with the pod counts. */
export function withCounts(draft: StatusDraft, { active, ready, terminating }: PodOutcome): ChangedDraft {
  const changed = draft.active !== active || draft.ready !== ready || draft.terminating !== terminating;
  return { draft: changed ? { ...draft, active, ready, terminating } : draft, changed };
}

/** Ignores terminating pods: the Job waits for them before it is declared complete. */
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
