import {
  type Pod,
  type VersionBehaviours,
  jobs as jobDefinition,
  labelSelectorMatcher,
  newestBehaviours,
} from "@kubewright/api";
import { ControllerRefManager } from "@kubewright/controller";

import { beginAccounting, finishAccounting } from "./account-pods.js";
import { intendedOutcome } from "./apply-pod-plan.js";
import { type BackoffRecord, NO_BACKOFF, nextBackoffRecord } from "./backoff.js";
import { type JobLimits, defaultJobLimits } from "./job-limits.js";
import type { JobReason } from "./job-reason.js";
import { type JobObject, type PodObject, replacesOnlyFailedPods } from "./job-spec.js";
import { type JobPlan, planJob } from "./plan-job.js";
import { hasTrackingFinalizer, isPodFailed, isPodSucceeded, uidOf } from "./pod-state.js";
import { reconcileStatus } from "./reconcile-status.js";
import { type SkippedJob, unreadable, skipReason } from "./skip-reason.js";

/** What a sync of a Job would do, told without asking or changing anything. */
export type PredictedJobSync = SkippedJob | PlannedJob;

export interface PlannedJob {
  readonly type: "planned";
  /** The pods it would take for the Job's own. */
  readonly pods: readonly PodObject[];
  readonly plan: JobPlan;
  /** Why, in the order in which it matters. */
  readonly reasons: readonly JobReason[];
  /** When the Job is looked at again if nothing happens until then, in epoch milliseconds. */
  readonly wakeMs?: number;
  /** What the wait between failures goes by. The controller keeps it in memory: here it is told from the pods there are. */
  readonly backoff: BackoffRecord;
}

export interface PredictionOptions {
  readonly limits?: JobLimits;
  readonly behaviours?: VersionBehaviours;
}

/**
 * What a sync of the Job comes to now if the pods given are all that match its selector, every request succeeds, and the
 * controller waits for no pod it created or deleted: the steps of `syncJob` in the same order, decided by the same
 * functions.
 *
 * @param controller - The one that is foreseen. Default: upstream's of the newest release.
 */
export function predictJobSync(
  job: JobObject,
  candidates: readonly PodObject[],
  nowMs: number,
  { limits = defaultJobLimits, behaviours = newestBehaviours }: PredictionOptions = {},
): PredictedJobSync {
  const skipped = skipReason(job);
  if (skipped !== undefined) return skipped;
  try {
    return predictPlan(job, candidates, nowMs, { limits, behaviours });
  } catch (error) {
    return unreadable(error);
  }
}

function predictPlan(
  job: JobObject,
  candidates: readonly PodObject[],
  nowMs: number,
  { limits, behaviours }: Required<PredictionOptions>,
): PlannedJob {
  const pods = ownPods(job, candidates);
  const backoff = backoffOfCountedPods(job, pods);
  const plan = planJob({
    job,
    pods,
    expectationsSatisfied: true,
    finalizersBeingRemoved: new Set(),
    backoff,
    nowMs,
    limits,
    behaviours,
  });
  const outcome = intendedOutcome(plan);
  const reconciled = reconcileStatus(job, plan, outcome, nowMs, behaviours);
  const accounting = beginAccounting(job, plan, reconciled, nowMs, limits);
  const finish = finishAccounting({
    draft: accounting.draft,
    accounting,
    plan,
    outcome,
    finalizerRemovedUIDs: new Set(accounting.podsToRemoveFinalizer.map(uidOf)),
    finalizerRemovalFailed: false,
    nowMs,
  });
  const reasons = [...plan.reasons, ...reconciled.reasons, ...finish.reasons];
  const delaysMs = [plan.deadlineInMs, plan.pods?.retryAfterMs].filter((delayMs) => delayMs !== undefined);
  return {
    type: "planned",
    pods,
    plan,
    reasons,
    backoff: plan.backoff,
    ...(delaysMs.length === 0 ? {} : { wakeMs: nowMs + Math.max(0, Math.min(...delaysMs)) }),
  };
}

/** The pods a sync would claim: its own that still match, and matching ones that nobody controls, which it would adopt. */
function ownPods(job: JobObject, candidates: readonly PodObject[]): readonly PodObject[] {
  const manager = new ControllerRefManager<Pod>({
    controller: job,
    controllerDefinition: jobDefinition,
    kind: "Pod",
    selector: labelSelectorMatcher(job.spec?.selector),
    canAdopt: () => Promise.reject(new Error("nothing is adopted here")),
    patch: () => Promise.reject(new Error("nothing is written here")),
  });
  return candidates.filter((pod) => {
    const claim = manager.decide(pod);
    return claim === "keep" || claim === "adopt";
  });
}

/**
 * What a controller remembers that has seen every pod there is end: the failures counted already, since the last success.
 * One that was restarted since remembers less, and waits less.
 */
function backoffOfCountedPods(job: JobObject, pods: readonly PodObject[]): BackoffRecord {
  const { succeeded = [], failed = [] } = job.status?.uncountedTerminatedPods ?? {};
  const recorded = new Set([...succeeded, ...failed]);
  const counted = pods.filter((pod) => !hasTrackingFinalizer(pod) || recorded.has(uidOf(pod)));
  const onlyReplaceFailed = replacesOnlyFailedPods(job);
  return nextBackoffRecord(
    NO_BACKOFF,
    counted.filter(isPodSucceeded),
    counted.filter((pod) => !isPodSucceeded(pod) && isPodFailed(pod, onlyReplaceFailed)),
  );
}
