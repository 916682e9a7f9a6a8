import { compareTimes, formatTime } from "@kubewright/api";

import type { EndState } from "./end-state.js";
import { formatIndexIntervals, hasIndex } from "./index-intervals.js";
import { newJobCondition, withJobCondition } from "./job-condition.js";
import { type JobLimits, defaultJobLimits } from "./job-limits.js";
import type { JobReason } from "./job-reason.js";
import {
  type JobObject,
  type PodObject,
  backoffLimitPerIndexOf,
  indexCount,
  isBeingDeleted,
  isIndexed,
  replacesOnlyFailedPods,
} from "./job-spec.js";
import type { ObservedIndexes } from "./observed-indexes.js";
import type { JobPlan } from "./plan-job.js";
import { wasDeletedWhileRunning } from "./pod-finish-time.js";
import { type PodFailureAction, matchPodFailurePolicy } from "./pod-failure-policy.js";
import { NO_UIDS, completionIndexOf, isPodFailed, isPodSucceeded, uidOf, uidSet, validIndexOf } from "./pod-state.js";
import { type PodOutcome, type ReconciledStatus, postponementReason, withCounts } from "./reconcile-status.js";
import type { ChangedDraft, StatusDraft } from "./status-draft.js";

/**
 * The first half of counting ended pods exactly once. The status records their UIDs (for successes of an indexed Job:
 * their indexes) before their finalizers are removed. The counters include them afterwards. Each half may be repeated
 * after a crash.
 */
export interface Accounting {
  /** Status to write before any finalizer is removed, if `needsFlush`. */
  readonly draft: StatusDraft;
  readonly needsFlush: boolean;
  /** Pods whose tracking finalizer is removed after that write. */
  readonly podsToRemoveFinalizer: readonly PodObject[];
  /** All pods that have the finalizer. */
  readonly tracked: readonly PodObject[];
  /** Whether there are more ended pods than one sync may count. */
  readonly capReached: boolean;
  /** The terminal condition, which the Job receives when no pod is left to count. */
  readonly terminal?: TerminalCondition | undefined;
  /** Number of decisions by each action of the pod failure policy. */
  readonly policyActions: Readonly<Partial<Record<PodFailureAction, number>>>;
  readonly counted: { readonly succeeded: number; readonly failed: number };
}

export interface TerminalCondition {
  readonly type: "Complete" | "Failed";
  readonly reason: string;
  readonly message: string;
  /** Time of the decision, which becomes `completionTime`. */
  readonly decidedMs: number;
}

/**
 * Starts the accounting of a sync.
 *
 * Upstream: job_controller.go trackJobStatusAndRemoveFinalizers, up to its first status update.
 */
export function beginAccounting(
  job: JobObject,
  plan: JobPlan,
  reconciled: ReconciledStatus,
  nowMs: number,
  { maxUncountedPods }: JobLimits = defaultJobLimits,
): Accounting {
  const tracked = inIndexOrder(job, plan.observed.tracked);
  const cleaned = countPodsWithoutFinalizer(reconciled.draft, tracked);
  const account = accountForPods({ job, plan, end: reconciled.end, tracked, draft: cleaned.draft, maxUncountedPods });
  const indexed = withIndexes(job, plan, account.draft);
  const interim = withInterimCondition(indexed.draft, reconciled.end, nowMs);
  const { podsToRemoveFinalizer, capReached, policyActions, counted } = account;
  const needsFlush =
    reconciled.needsFlush || cleaned.changed || account.needsFlush || indexed.changed || interim.changed;
  const { draft, terminal } = interim;
  return { draft, needsFlush, podsToRemoveFinalizer, tracked, capReached, terminal, policyActions, counted };
}

/**
 * Returns whether nothing is left to do: the stored status is current, no finalizer is to be removed, and the Job does
 * not end.
 */
export function isAccountedFor({ needsFlush, podsToRemoveFinalizer, terminal }: Accounting): boolean {
  return !needsFlush && podsToRemoveFinalizer.length === 0 && terminal === undefined;
}

export interface FinishInput {
  /** The status as last written, or as it would have been written. */
  readonly draft: StatusDraft;
  readonly accounting: Accounting;
  readonly plan: JobPlan;
  /** Current state of the pods. */
  readonly outcome: PodOutcome;
  /** UIDs of the pods whose finalizer has been removed. */
  readonly finalizerRemovedUIDs: ReadonlySet<string>;
  /** Whether the removal of a finalizer failed; the Job does not end then. */
  readonly finalizerRemovalFailed: boolean;
  readonly nowMs: number;
}

export interface Finish {
  readonly draft: StatusDraft;
  /** Whether the status differs from the one in {@link FinishInput}. */
  readonly needsFlush: boolean;
  /** The terminal condition, if the Job ends now. */
  readonly finished?: TerminalCondition;
  /** The end of the Job, or why a Job with a known end does not end yet. */
  readonly reasons: readonly JobReason[];
}

/**
 * The second half of the accounting. It adds the UIDs of pods without finalizer to the counters, and ends a Job that
 * has no pod left to count.
 *
 * Upstream: job_controller.go trackJobStatusAndRemoveFinalizers, after its finalizer removals.
 */
export function finishAccounting(input: FinishInput): Finish {
  const { accounting, plan, outcome, finalizerRemovedUIDs, finalizerRemovalFailed, nowMs } = input;
  const counted = withCounts(input.draft, outcome);
  const withoutFinalizer = countPodsWithoutFinalizer(counted.draft, accounting.tracked, finalizerRemovedUIDs);
  const { draft } = withoutFinalizer;
  const needsFlush = counted.changed || withoutFinalizer.changed;
  const { terminal } = accounting;
  if (terminal === undefined) return { draft, needsFlush, reasons: [] };
  const unfinished = unfinishedReason(plan, accounting, outcome);
  const hasUncounted = draft.uncountedSucceeded.length + draft.uncountedFailed.length > 0;
  // A rejected removal fails the sync, and its error explains why the Job does not end.
  if (finalizerRemovalFailed) return { draft, needsFlush, reasons: [] };
  if (unfinished !== undefined || hasUncounted)
    return { draft, needsFlush, reasons: unfinished === undefined ? [] : [unfinished] };
  const { type, reason, message, decidedMs } = terminal;
  const conditions = withJobCondition(
    draft.conditions,
    newJobCondition(type, "True", reason, message, nowMs),
  ).conditions;
  const completionTime = type === "Complete" ? completionTimeOf(draft, decidedMs) : draft.completionTime;
  return {
    draft: { ...draft, conditions, completionTime },
    needsFlush: true,
    finished: terminal,
    reasons: [{ type: "Finished", condition: type, reason, message }],
  };
}

/**
 * Returns a completion time that is not before the start time, which the API server would reject. The start time may
 * come from another controller manager's clock, or from this clock before it was set back. Upstream uses the time as it
 * is and retries until the time is late enough.
 */
function completionTimeOf({ startTime }: StatusDraft, decidedMs: number): string {
  const time = formatTime(decidedMs);
  return startTime !== undefined && compareTimes(time, startTime) < 0 ? startTime : time;
}

function unfinishedReason(
  plan: JobPlan,
  { capReached }: Accounting,
  { terminating, undeleted }: PodOutcome,
): JobReason | undefined {
  if (capReached) return { type: "PodsLeftToCount" };
  if (plan.end !== undefined) {
    const because = postponementReason(plan, undeleted);
    if (because !== undefined) return { type: "EndPostponed", end: plan.end, because };
  }
  return terminating > 0 ? { type: "WaitingForTermination", terminating } : undefined;
}

/** Adds recorded UIDs of pods without finalizer to the counters. Upstream: cleanUncountedPodsWithoutFinalizers. */
function countPodsWithoutFinalizer(
  draft: StatusDraft,
  tracked: readonly PodObject[],
  finalizerRemovedUIDs: ReadonlySet<string> = NO_UIDS,
): ChangedDraft {
  if (draft.uncountedSucceeded.length + draft.uncountedFailed.length === 0) return { draft, changed: false };
  const trackedUIDs = new Set<string>();
  for (const pod of tracked) if (!finalizerRemovedUIDs.has(uidOf(pod))) trackedUIDs.add(uidOf(pod));
  const uncountedSucceeded = draft.uncountedSucceeded.filter((uid) => trackedUIDs.has(uid));
  const uncountedFailed = draft.uncountedFailed.filter((uid) => trackedUIDs.has(uid));
  const succeeded = draft.uncountedSucceeded.length - uncountedSucceeded.length;
  const failed = draft.uncountedFailed.length - uncountedFailed.length;
  const counted = { succeeded: draft.succeeded + succeeded, failed: draft.failed + failed };
  return { draft: { ...draft, uncountedSucceeded, uncountedFailed, ...counted }, changed: succeeded + failed > 0 };
}

type Account = Pick<
  Accounting,
  "draft" | "needsFlush" | "podsToRemoveFinalizer" | "capReached" | "policyActions" | "counted"
>;

interface AccountInput {
  readonly job: JobObject;
  readonly plan: JobPlan;
  readonly end: EndState | undefined;
  readonly tracked: readonly PodObject[];
  readonly draft: StatusDraft;
  readonly maxUncountedPods: number;
}

function accountForPods({ job, plan, end, tracked, draft, maxUncountedPods }: AccountInput): Account {
  const { indexes } = plan;
  const completions = indexCount(job);
  const onlyReplaceFailed = replacesOnlyFailedPods(job);
  const policy = job.spec?.podFailurePolicy;
  const recordedSucceeded = uidSet(draft.uncountedSucceeded);
  const recordedFailed = uidSet(draft.uncountedFailed);
  const removesAllFinalizers = end !== undefined || isBeingDeleted(job);
  // When the Job fails, each of its unfinished pods counts as failed.
  const failsAll = end?.type === "FailureTarget";

  const succeeded = [...draft.uncountedSucceeded];
  const failed = [...draft.uncountedFailed];
  const podsToRemoveFinalizer: PodObject[] = [];
  const policyActions: Partial<Record<PodFailureAction, number>> = {};
  let newIndexes = 0;
  let capReached = false;
  // After the success is recorded, pods are deleted because of it. Upstream counts such pods as failed when it finds
  // them afterwards.
  const skipsPodsDeletedWhileRunning = end?.type === "SuccessCriteriaMet" && end.recorded;
  for (const pod of tracked) {
    const uid = uidOf(pod);
    const podFailed = isPodFailed(pod, onlyReplaceFailed);
    if (!removesAllFinalizers && !isPodSucceeded(pod) && !(podFailed && !awaitsReplacement(pod, plan))) continue;
    podsToRemoveFinalizer.push(pod);
    const index = indexes === undefined ? undefined : validIndexOf(pod, completions);
    const countable = indexes === undefined || index !== undefined;
    if (isPodSucceeded(pod) && !recordedFailed.has(uid)) {
      if (indexes === undefined) {
        if (!recordedSucceeded.has(uid)) succeeded.push(uid);
      } else if (index !== undefined && isNewlySucceeded(indexes, index)) {
        newIndexes++;
      }
    } else if (skipsPodsDeletedWhileRunning && wasDeletedWhileRunning(pod)) {
      continue;
    } else if ((podFailed || failsAll) && countable && !recordedFailed.has(uid) && !recordedSucceeded.has(uid)) {
      const { action, counts } = matchPodFailurePolicy(policy, pod);
      if (action !== undefined) policyActions[action] = (policyActions[action] ?? 0) + 1;
      if (counts) failed.push(uid);
    }
    if (newIndexes + succeeded.length + failed.length >= maxUncountedPods) {
      capReached = true;
      break;
    }
  }
  const newSucceeded = succeeded.length - draft.uncountedSucceeded.length;
  const newFailed = failed.length - draft.uncountedFailed.length;
  return {
    draft: { ...draft, uncountedSucceeded: succeeded, uncountedFailed: failed },
    needsFlush: newIndexes + newSucceeded + newFailed > 0,
    podsToRemoveFinalizer,
    capReached,
    policyActions,
    counted: { succeeded: newSucceeded + newIndexes, failed: newFailed },
  };
}

function isNewlySucceeded({ succeeded, succeededBefore }: ObservedIndexes, index: number): boolean {
  return hasIndex(succeeded, index) && !hasIndex(succeededBefore, index);
}

function awaitsReplacement(pod: PodObject, { indexes }: JobPlan): boolean {
  const index = completionIndexOf(pod);
  return index !== undefined && indexes?.awaitingReplacement.get(index)?.metadata.uid === pod.metadata.uid;
}

/** Successes of an indexed Job need no UIDs: an index in the set cannot be counted twice. */
function withIndexes(job: JobObject, { indexes, succeeded }: JobPlan, draft: StatusDraft): ChangedDraft {
  if (indexes === undefined) return { draft, changed: false };
  const completedIndexes = formatIndexIntervals(indexes.succeeded);
  const failedIndexes =
    backoffLimitPerIndexOf(job) === undefined ? undefined : formatIndexIntervals(indexes.failed ?? []);
  // A wrong number of successes alone causes no write; the next write corrects it.
  const changed = draft.completedIndexes !== completedIndexes || draft.failedIndexes !== failedIndexes;
  return { draft: { ...draft, completedIndexes, failedIndexes, succeeded }, changed };
}

/** Records the end before the pods that led to it may disappear. */
function withInterimCondition(
  draft: StatusDraft,
  end: EndState | undefined,
  nowMs: number,
): ChangedDraft & Pick<Accounting, "terminal"> {
  if (end === undefined) return { draft, changed: false };
  const terminal = {
    type: end.type === "FailureTarget" ? "Failed" : "Complete",
    reason: end.reason,
    message: end.message,
    decidedMs: nowMs,
  } as const;
  if (end.recorded) return { draft, changed: false, terminal };
  // Upstream appends a second condition when a client has added one with status False. Here the condition is replaced.
  const condition = newJobCondition(end.type, "True", end.reason, end.message, nowMs);
  const { conditions } = withJobCondition(draft.conditions, condition);
  return { draft: { ...draft, conditions }, changed: true, terminal };
}

/** Sorts pods by index, so that the text of the index set stays short. Pods without an index come first. */
function inIndexOrder(job: JobObject, pods: readonly PodObject[]): readonly PodObject[] {
  if (!isIndexed(job)) return pods;
  const position = (pod: PodObject): number => completionIndexOf(pod) ?? -1;
  return pods.length < 2 ? pods : [...pods].sort((a, b) => position(a) - position(b));
}
