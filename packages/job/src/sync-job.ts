import { type ObjectKey, isJobFinished, jobs, labelSelectorMatcher, splitObjectKey } from "@kubewright/api";
import { errorMessage } from "@kubewright/client";
import { TerminalError } from "@kubewright/controller";

import { applyPodPlan } from "./apply-pod-plan.js";
import { NO_BACKOFF } from "./backoff.js";
import { claimPods } from "./claim-pods.js";
import { type SyncLabels, completionModeOf } from "./job-metrics.js";
import { checkJobShape } from "./job-shape.js";
import { type JobObject, isManagedElsewhere } from "./job-spec.js";
import { type JobPlan, planJob } from "./plan-job.js";
import { settleStatus } from "./settle-status.js";
import type { JobSyncDeps, SyncRecord } from "./sync-deps.js";
import { trackPods } from "./track-pods.js";

/**
 * One sync of one Job: gates, then {@link planJob} decides, and the rest performs, in upstream's order.
 *
 * @throws what was refused: the key is to be tried again with back-off.
 * Upstream: job_controller.go syncJob.
 */
export async function syncJob(key: ObjectKey, deps: JobSyncDeps, signal: AbortSignal): Promise<void> {
  const { memory, events, metrics } = deps;
  const { namespace, name } = splitObjectKey(key);
  if (namespace === "" || name === "")
    throw new Error(`invalid job key ${JSON.stringify(key)}: either namespace or name is missing`);
  const readiness = memory.consistency.ensureReady(key);
  if (!readiness.ready) {
    metrics.staleSyncSkipped({ group: readiness.group, resource: readiness.resource });
    throw new Error(readiness.message);
  }
  const job = deps.jobs.get(key);
  if (job === undefined) return memory.forgetKey(key);
  if (isManagedElsewhere(job, deps.managedBy)) return;
  const uid = job.metadata.uid ?? "";
  understand(job, () => checkJobShape(job));
  if (isJobFinished(job)) return memory.forgetFinished(key, uid);
  if (memory.finished.has(uid)) return;
  const mode = job.spec?.completionMode;
  if (mode != null && mode !== "NonIndexed" && mode !== "Indexed") {
    return events.event(
      job,
      jobs,
      "Warning",
      "UnknownCompletionMode",
      "Skipped Job sync because completion mode is unknown",
    );
  }

  const startMs = deps.clock.monotonic();
  const record: SyncRecord = { action: "reconciling", reasons: [], statusWrites: 0 };
  let result: SyncLabels["result"] = "error";
  try {
    await decideAndAct(key, job, deps, record, signal);
    result = "success";
  } finally {
    const labels = { completion_mode: completionModeOf(job), result, action: record.action };
    metrics.synced(labels, (deps.clock.monotonic() - startMs) / 1000);
  }
}

async function decideAndAct(
  key: ObjectKey,
  job: JobObject,
  deps: JobSyncDeps,
  record: SyncRecord,
  signal: AbortSignal,
): Promise<void> {
  const { memory, clock } = deps;
  // Read before the pods are listed: one that comes in between can then only make this sync more careful.
  const expectationsSatisfied = memory.expectations.satisfiedExpectations(key);
  const finalizersBeingRemoved = memory.finalizers.expectedUIDs(key);
  const selector = understand(job, () => labelSelectorMatcher(job.spec?.selector));
  const claimDeps = { pods: deps.pods, jobReader: deps.jobClient, podControl: deps.podControl };
  const pods = await claimPods(job, selector, claimDeps, signal);
  const nowMs = clock.now();
  const backoff = memory.backoff.get(key) ?? NO_BACKOFF;
  const plan = understand(job, () =>
    planJob({
      job,
      pods,
      expectationsSatisfied,
      finalizersBeingRemoved,
      backoff,
      nowMs,
      ...(deps.limits && { limits: deps.limits }),
    }),
  );
  record.action = plan.action;
  record.reasons.push(...plan.reasons);
  if (plan.deadlineInMs !== undefined) deps.requeueAfter(key, plan.deadlineInMs);
  if (plan.pods?.retryAfterMs !== undefined)
    deps.requeueAfter(key, Math.max(plan.pods.retryAfterMs, deps.minRequeueMs));

  let failure: { readonly error: unknown } | undefined;
  try {
    await perform(key, job, plan, deps, record, signal);
  } catch (error) {
    failure = { error };
  }
  deps.onDecision?.({ key, uid: job.metadata.uid ?? "", atMs: nowMs, plan, ...record, ...failure });
  if (failure !== undefined) throw failure.error;
}

/**
 * What depends on the Job alone fails for what the Job is like: trying again is of no use before it changes.
 *
 * @throws TerminalError naming the Job.
 */
function understand<T>(job: JobObject, read: () => T): T {
  try {
    return read();
  } catch (error) {
    const { namespace, name } = job.metadata;
    throw new TerminalError(`Job ${namespace}/${name} cannot be understood: ${errorMessage(error)}`, { cause: error });
  }
}

async function perform(
  key: ObjectKey,
  job: JobObject,
  plan: JobPlan,
  deps: JobSyncDeps,
  record: SyncRecord,
  signal: AbortSignal,
): Promise<void> {
  const { memory, podControl, events, clock } = deps;
  const outcome = await applyPodPlan(
    key,
    job,
    plan,
    { podControl, expectations: memory.expectations, metrics: deps.metrics },
    signal,
  );
  const settled = settleStatus(job, plan, outcome, clock.now());
  record.reasons.push(...settled.reasons);
  // Before the status is written, as upstream: a write that fails repeats the event.
  if (settled.suspension !== undefined) {
    events.event(
      job,
      jobs,
      "Normal",
      settled.suspension,
      settled.suspension === "Suspended" ? "Job suspended" : "Job resumed",
    );
  }
  try {
    await trackPods(key, job, plan, settled, outcome.terminating, deps, record, signal);
  } catch (error) {
    throw new Error(`tracking status: ${errorMessage(error)}`, { cause: error });
  }
  if (outcome.error !== undefined) throw outcome.error;
}
