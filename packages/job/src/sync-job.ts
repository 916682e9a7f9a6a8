import { type Job, type ObjectKey, type Pod, isJobFinished, jobs, splitObjectKey } from "@kubewright/api";
import { type Reader, type StatusWriter, errorMessage, isNotFound } from "@kubewright/client";
import type { Clock } from "@kubewright/clock";
import type { EventSink, PodControl } from "@kubewright/controller";
import type { Lister } from "@kubewright/informer";

import { type Accounting, type TerminalCondition, beginAccounting, finishAccounting } from "./account-pods.js";
import { applyPodPlan } from "./apply-pod-plan.js";
import { NO_BACKOFF } from "./backoff.js";
import { claimPods } from "./claim-pods.js";
import type { JobMemory } from "./job-memory.js";
import type { JobReason } from "./job-reason.js";
import { type JobObject, isManagedElsewhere } from "./job-spec.js";
import { type JobPlan, planJob } from "./plan-job.js";
import type { SyncAction } from "./plan-pods.js";
import { uidOf } from "./pod-state.js";
import { type SettledStatus, settleStatus } from "./settle-status.js";
import { type StatusDraft, draftOf, statusOf } from "./status-draft.js";
import { removeTrackingFinalizer } from "./tracking-finalizer.js";

export interface JobSyncDeps {
  readonly jobs: Pick<Lister<Job>, "get">;
  readonly pods: Pick<Lister<Pod>, "byIndex">;
  readonly jobClient: Reader<Job> & StatusWriter<Job>;
  readonly podControl: PodControl;
  readonly events: EventSink;
  readonly memory: JobMemory;
  readonly clock: Clock;
  /** Syncs the key again after this long, at once if not positive. */
  readonly requeueAfter: (key: ObjectKey, delayMs: number) => void;
  /** The least to wait before looking again at a Job that waits out a backoff. */
  readonly minRequeueMs: number;
  readonly onDecision?: ((decision: JobDecision) => void) | undefined;
}

/** One sync of a Job that is not finished, after the fact. */
export interface JobDecision {
  readonly key: ObjectKey;
  readonly uid: string;
  /** When the sync began to decide, in epoch milliseconds. */
  readonly atMs: number;
  readonly action: SyncAction;
  readonly plan: JobPlan;
  /** Why, in the order in which it mattered. */
  readonly reasons: readonly JobReason[];
  /** Writes of the Job's status: 0 when nothing had changed. */
  readonly statusWrites: number;
  /** What made the sync fail: it is tried again. */
  readonly error?: unknown;
}

/**
 * One sync of one Job: gates, then {@link planJob} decides, and the rest performs, in upstream's order.
 *
 * @throws what was refused: the key is to be tried again with back-off.
 * Upstream: job_controller.go syncJob.
 */
export async function syncJob(key: ObjectKey, deps: JobSyncDeps, signal: AbortSignal): Promise<void> {
  const { memory, clock, events } = deps;
  const { namespace, name } = splitObjectKey(key);
  if (namespace === "" || name === "")
    throw new Error(`invalid job key ${JSON.stringify(key)}: either namespace or name is missing`);
  const readiness = memory.consistency.ensureReady(key);
  if (!readiness.ready) throw new Error(readiness.message);
  const job = deps.jobs.get(key);
  if (job === undefined) return memory.forgetKey(key);
  if (isManagedElsewhere(job)) return;
  const uid = job.metadata.uid ?? "";
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

  // Read before the pods are listed: one that comes in between can then only make this sync more careful.
  const expectationsSatisfied = memory.expectations.satisfiedExpectations(key);
  const finalizersBeingRemoved = memory.finalizers.expectedUIDs(key);
  const pods = await claimPods(
    job,
    { pods: deps.pods, jobReader: deps.jobClient, podControl: deps.podControl },
    signal,
  );
  const atMs = clock.now();
  const plan = planJob({
    job,
    pods,
    expectationsSatisfied,
    finalizersBeingRemoved,
    backoff: memory.backoff.get(key) ?? NO_BACKOFF,
    nowMs: atMs,
  });
  if (plan.deadlineInMs !== undefined) deps.requeueAfter(key, plan.deadlineInMs);
  if (plan.pods?.retryAfterMs !== undefined)
    deps.requeueAfter(key, Math.max(plan.pods.retryAfterMs, deps.minRequeueMs));

  const record: SyncRecord = { reasons: [...plan.reasons], statusWrites: 0 };
  let failure: { readonly error: unknown } | undefined;
  try {
    await perform(key, job, plan, deps, record, signal);
  } catch (error) {
    failure = { error };
  }
  const { reasons, statusWrites } = record;
  deps.onDecision?.({ key, uid, atMs, action: plan.action, plan, reasons, statusWrites, ...failure });
  if (failure !== undefined) throw failure.error;
}

/** What a sync did, noted while it does it: it may fail half-way. */
interface SyncRecord {
  readonly reasons: JobReason[];
  statusWrites: number;
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
  const outcome = await applyPodPlan(key, job, plan, { podControl, expectations: memory.expectations }, signal);
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

/** Upstream: job_controller.go trackJobStatusAndRemoveFinalizers, flushUncountedAndRemoveFinalizers. */
async function trackPods(
  key: ObjectKey,
  job: JobObject,
  plan: JobPlan,
  settled: SettledStatus,
  terminating: number,
  deps: JobSyncDeps,
  record: SyncRecord,
  signal: AbortSignal,
): Promise<void> {
  const { memory, clock } = deps;
  const accounting = beginAccounting(job, plan, settled, clock.now());
  const { succeeded, failed } = accounting.counted;
  if (succeeded + failed > 0) record.reasons.push({ type: "PodsCounted", succeeded, failed });

  let current = job;
  let draft = accounting.draft;
  if (accounting.needsFlush) {
    current = await writeStatus(key, job, draft, "adding uncounted pods to status", deps, record, signal);
    draft = draftOf(current.status);
    memory.backoff.set(key, plan.backoff);
  }
  const { releasedUIDs, error } = await releasePods(key, accounting, deps, signal);
  const releaseFailed = error !== undefined;
  const finish = finishAccounting({ draft, accounting, releasedUIDs, releaseFailed, terminating, nowMs: clock.now() });
  if (finish.needsFlush) {
    await writeStatus(key, current, finish.draft, "removing uncounted pods from status", deps, record, signal);
    if (finish.finished !== undefined) {
      memory.finished.add(job.metadata.uid ?? "");
      announceFinish(job, finish.draft, finish.finished, deps.events);
      const { type: condition, reason, message } = finish.finished;
      record.reasons.push({ type: "Finished", condition, reason, message });
    }
  }
  if (releaseFailed) throw error;
  if (accounting.terminal !== undefined && finish.finished === undefined) {
    record.reasons.push(
      accounting.capReached ? { type: "PodsLeftToCount" } : { type: "WaitingForTermination", terminating },
    );
  }
}

/** A full update under the Job's resourceVersion. A conflict fails the sync; the next one has a fresh Job. */
async function writeStatus(
  key: ObjectKey,
  job: JobObject,
  draft: StatusDraft,
  step: string,
  { jobClient, memory }: JobSyncDeps,
  record: SyncRecord,
  signal: AbortSignal,
): Promise<JobObject> {
  let written: JobObject;
  try {
    written = await jobClient.updateStatus({ ...job, status: statusOf(draft) }, { signal });
  } catch (error) {
    throw new Error(`${step}: ${errorMessage(error)}`, { cause: error });
  }
  record.statusWrites++;
  memory.consistency.wroteAt(key, job.metadata.uid ?? "", jobs, written.metadata.resourceVersion ?? "");
  return written;
}

/** Removes the tracking finalizers of counted pods, all at once. Upstream: removeTrackingFinalizerFromPods. */
async function releasePods(
  key: ObjectKey,
  { release }: Accounting,
  { podControl, memory }: JobSyncDeps,
  signal: AbortSignal,
): Promise<{ releasedUIDs: ReadonlySet<string>; error?: unknown }> {
  const releasedUIDs = new Set<string>();
  if (release.length === 0) return { releasedUIDs };
  memory.finalizers.expectFinalizersRemoved(key, release.map(uidOf));
  const outcomes = await Promise.allSettled(
    release.map(async (pod) => {
      try {
        await removeTrackingFinalizer(podControl, pod, signal);
      } catch (error) {
        // No event of the pod is certain to come.
        memory.finalizers.finalizerRemovalObserved(key, uidOf(pod));
        if (!isNotFound(error)) throw error;
      }
      releasedUIDs.add(uidOf(pod));
    }),
  );
  const failed = outcomes.find((outcome) => outcome.status === "rejected");
  return failed === undefined ? { releasedUIDs } : { releasedUIDs, error: failed.reason as unknown };
}

/** Upstream: job_controller.go recordJobFinished. */
function announceFinish(
  job: JobObject,
  { succeeded }: StatusDraft,
  { type, reason, message }: TerminalCondition,
  events: EventSink,
): void {
  if (type === "Failed") return events.event(job, jobs, "Warning", reason, message);
  const completions = job.spec?.completions;
  if (completions != null && succeeded > completions) {
    events.event(
      job,
      jobs,
      "Warning",
      "TooManySucceededPods",
      "Too many succeeded pods running after completion count reached",
    );
  }
  events.event(job, jobs, "Normal", "Completed", "Job completed");
}
