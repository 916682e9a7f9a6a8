import { type LabelMatcher, type ObjectKey, jobs, labelSelectorMatcher } from "@kubewright/api";
import { errorMessage } from "@kubewright/client";
import { TerminalError } from "@kubewright/controller";

import { type Accounting, beginAccounting, isAccountedFor } from "./account-pods.js";
import { applyPodPlan } from "./apply-pod-plan.js";
import { NO_BACKOFF } from "./backoff.js";
import { claimPods, podsToKeep } from "./claim-pods.js";
import { type SyncLabels, completionModeOf } from "./job-metrics.js";
import type { JobObject } from "./job-spec.js";
import { planJob } from "./plan-job.js";
import { type PodOutcome, reconcileStatus } from "./reconcile-status.js";
import type { JobSync, JobSyncDeps, SyncRecord } from "./sync-deps.js";
import { trackPods } from "./track-pods.js";
import { skipReason } from "./skip-reason.js";

/**
 * Runs one sync of one Job: the gates, then {@link planJob} decides, then the plan is applied in upstream's order.
 *
 * @throws Any rejected request; the key is retried with backoff. Upstream: job_controller.go syncJob.
 */
export async function syncJob(key: ObjectKey, deps: JobSyncDeps, signal: AbortSignal): Promise<void> {
  const { memory, clock } = deps;
  const job = jobToSync(key, deps);
  if (job === undefined) return;
  const startMs = clock.monotonic();
  const record: SyncRecord = { action: "reconciling", reasons: [], statusWrites: 0 };
  let result: SyncLabels["result"] = "error";
  try {
    memory.beginSync(key, job.metadata.uid ?? "");
    // Must be read before the pods are listed: a pod event in between can then only make this sync more careful.
    const expectationsSatisfied = memory.expectations.satisfiedExpectations(key);
    const finalizersBeingRemoved = memory.finalizers.expectedUIDs(key);
    const selector = withTerminalError(job, selectorOf);
    const pods =
      podsToKeep(job, selector, deps.pods) ?? (await claimPods(job, selector, finalizersBeingRemoved, deps, signal));
    const nowMs = clock.now();
    const backoff = memory.backoff.get(key) ?? NO_BACKOFF;
    const { limits, behaviours } = deps;
    const input = { job, pods, expectationsSatisfied, finalizersBeingRemoved, backoff, nowMs, limits, behaviours };
    const plan = withTerminalError(job, () => planJob(input));
    record.action = plan.action;
    record.reasons.push(...plan.reasons);
    if (plan.deadlineInMs !== undefined) deps.requeueAfter(key, plan.deadlineInMs);
    if (plan.pods?.retryAfterMs !== undefined)
      deps.requeueAfter(key, Math.max(plan.pods.retryAfterMs, deps.minRequeueMs));
    // A pod that is created and deleted during an interruption of the watch is never observed. Upstream relies on the
    // informer's resync after 12 h or more. Without the consistency gate the cache may still be older than that pod, so
    // there is no requeue.
    if (!expectationsSatisfied && memory.requiresReadYourWrites)
      deps.requeueAfter(key, memory.expectations.satisfiedInMs(key));

    let failure: { readonly error: unknown } | undefined;
    try {
      const sync: JobSync = { key, job, plan, deps, record, signal };
      let outcome = await applyPodPlan(sync);
      const accounting = startAccounting(sync, outcome);
      if (!isAccountedFor(accounting)) outcome = await trackPods(sync, accounting, outcome);
      if (outcome.error !== undefined) throw outcome.error;
    } catch (error) {
      failure = { error };
    }
    const { action, reasons, statusWrites } = record;
    deps.onDecision?.({
      key,
      uid: job.metadata.uid ?? "",
      atMs: nowMs,
      action,
      plan,
      reasons,
      statusWrites,
      ...failure,
    });
    if (failure !== undefined) throw failure.error;
    result = "success";
  } finally {
    const labels = { completion_mode: completionModeOf(job), result, action: record.action };
    deps.metrics.synced(labels, (clock.monotonic() - startMs) / 1000);
  }
}

/** Returns the Job, unless there is nothing to decide about it. */
function jobToSync(
  key: ObjectKey,
  { memory, events, metrics, jobs: lister, managedBy }: JobSyncDeps,
): JobObject | undefined {
  const slash = key.indexOf("/");
  if (slash <= 0 || slash === key.length - 1)
    throw new Error(`invalid job key ${JSON.stringify(key)}: either namespace or name is missing`);
  const readiness = memory.consistency.ensureReady(key);
  if (!readiness.ready) {
    metrics.staleSyncSkipped({ group: readiness.group, resource: readiness.resource });
    throw new Error(readiness.message);
  }
  const job = lister.get(key);
  if (job === undefined) {
    memory.forgetKey(key);
    return undefined;
  }
  const skipped = skipReason(job, managedBy);
  const uid = job.metadata.uid ?? "";
  switch (skipped?.reason) {
    case undefined:
      return memory.finished.has(uid) ? undefined : job;
    case "unreadable":
      throw unreadableJobError(job, skipped.detail);
    case "finished":
      memory.forgetFinished(key, uid);
      return undefined;
    case "unknownCompletionMode":
      if (!memory.finished.has(uid)) events.event(job, jobs, "Warning", "UnknownCompletionMode", UNKNOWN_MODE);
      return undefined;
    default:
      return undefined;
  }
}

const UNKNOWN_MODE = "Skipped Job sync because completion mode is unknown";

function selectorOf(job: JobObject): LabelMatcher {
  return labelSelectorMatcher(job.spec?.selector);
}

/**
 * Runs a function that depends on the Job alone. A failure is terminal: a retry cannot succeed before the Job changes.
 *
 * @throws TerminalError that names the Job.
 */
function withTerminalError<T>(job: JobObject, read: (job: JobObject) => T): T {
  try {
    return read(job);
  } catch (error) {
    throw unreadableJobError(job, errorMessage(error), error);
  }
}

function unreadableJobError({ metadata: { namespace, name } }: JobObject, why: string, cause?: unknown): TerminalError {
  return new TerminalError(`Job ${namespace}/${name} cannot be understood: ${why}`, { cause });
}

/** Computes the accounting for the state of the pods. Records an event for a Job that was suspended or resumed. */
function startAccounting({ job, plan, deps, record }: JobSync, outcome: PodOutcome): Accounting {
  const { events, clock, limits, behaviours } = deps;
  const nowMs = clock.now();
  const reconciled = reconcileStatus(job, plan, outcome, nowMs, behaviours);
  record.reasons.push(...reconciled.reasons);
  // Before the status write, as upstream: if the write fails, the event is repeated.
  if (reconciled.suspension !== undefined) {
    const message = reconciled.suspension === "Suspended" ? "Job suspended" : "Job resumed";
    events.event(job, jobs, "Normal", reconciled.suspension, message);
  }
  return beginAccounting(job, plan, reconciled, nowMs, limits);
}
