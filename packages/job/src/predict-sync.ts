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

/** What a sync of a Job would do, computed without requests or changes. */
export type PredictedJobSync = SkippedJob | PlannedJob;

export interface PlannedJob {
  readonly type: "planned";
  /** The pods that the sync would claim. */
  readonly pods: readonly PodObject[];
  readonly plan: JobPlan;
  /** Reasons in order of importance. */
  readonly reasons: readonly JobReason[];
  /** When the Job is synced next without further events, in epoch milliseconds. */
  readonly wakeMs?: number;
  /**
   * Determines the delay between failures. The controller keeps it in memory; here it is computed from the existing
   * pods.
   */
  readonly backoff: BackoffRecord;
}

export interface PredictionOptions {
  readonly limits?: JobLimits;
  readonly behaviours?: VersionBehaviours;
}

/**
 * Computes what a sync of the Job would do now. It assumes that the given pods are all that match its selector, that
 * every request succeeds, and that all expectations are met. It runs the steps of `syncJob` in the same order with the
 * same functions.
 *
 * @param options - Limits and behaviours of the controller. Default: upstream's of the newest release.
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

/**
 * Returns the pods that a sync would claim: owned pods that still match, and matching orphans, which it would adopt.
 */
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
 * Computes the backoff record of a controller that has observed the end of every existing pod: the counted failures
 * since the last success. A controller that was restarted since has fewer failures and a shorter delay.
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
