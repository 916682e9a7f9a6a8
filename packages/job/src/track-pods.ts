import { type ObjectKey, jobs } from "@kubewright/api";
import { errorMessage, isNotFound } from "@kubewright/client";

import { type Accounting, type TerminalCondition, finishAccounting } from "./account-pods.js";
import { completionModeOf, countFinished } from "./job-metrics.js";
import type { JobObject, PodObject } from "./job-spec.js";
import type { JobPlan } from "./plan-job.js";
import type { PodFailureAction } from "./pod-failure-policy.js";
import { NO_UIDS, uidOf } from "./pod-state.js";
import { type StatusDraft, draftOf, statusOf } from "./status-draft.js";
import type { JobSyncDeps, SyncRecord } from "./sync-deps.js";
import { removeTrackingFinalizer } from "./tracking-finalizer.js";

/**
 * Performs the accounting for ended pods: status, finalizers, status. Ends the Job when nothing is left to account for.
 *
 * @throws what was refused, after as much as could be done.
 * Upstream: job_controller.go trackJobStatusAndRemoveFinalizers, flushUncountedAndRemoveFinalizers.
 */
export async function trackPods(
  key: ObjectKey,
  job: JobObject,
  { backoff }: JobPlan,
  accounting: Accounting,
  terminating: number,
  deps: JobSyncDeps,
  record: SyncRecord,
  signal: AbortSignal,
): Promise<void> {
  const { memory, clock } = deps;
  const { succeeded, failed } = accounting.counted;
  if (succeeded + failed > 0) record.reasons.push({ type: "PodsCounted", succeeded, failed });

  let current = job;
  let draft = accounting.draft;
  if (accounting.needsFlush) {
    current = await writeStatus(key, job, draft, "adding uncounted pods to status", deps, record, signal);
    draft = draftOf(current.status);
    memory.backoff.set(key, backoff);
  }
  for (const [action, count] of Object.entries(accounting.policyActions))
    deps.metrics.podFailuresHandled({ action: action as PodFailureAction }, count);
  const { releasedUIDs, error } =
    accounting.release.length === 0 ? NOTHING_RELEASED : await releasePods(key, accounting, deps, signal);
  const releaseFailed = error !== undefined;
  const finish = finishAccounting({ draft, accounting, releasedUIDs, releaseFailed, terminating, nowMs: clock.now() });
  if (finish.needsFlush) {
    await writeStatus(key, current, finish.draft, "removing uncounted pods from status", deps, record, signal);
    if (finish.finished !== undefined) {
      memory.finished.add(job.metadata.uid ?? "");
      announceFinish(job, finish.draft, finish.finished, deps);
      const { type: condition, reason, message } = finish.finished;
      record.reasons.push({ type: "Finished", condition, reason, message });
    }
  }
  if (releaseFailed) throw trackingError(errorMessage(error), error);
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
  { jobClient, memory, metrics }: JobSyncDeps,
  record: SyncRecord,
  signal: AbortSignal,
): Promise<JobObject> {
  let written: JobObject;
  try {
    written = await jobClient.updateStatus({ ...job, status: statusOf(draft) }, { signal });
  } catch (error) {
    throw trackingError(`${step}: ${errorMessage(error)}`, error);
  }
  record.statusWrites++;
  countFinished(metrics, job, draft);
  memory.consistency.wroteAt(key, job.metadata.uid ?? "", jobs, written.metadata.resourceVersion ?? "");
  return written;
}

function trackingError(message: string, cause: unknown): Error {
  return new Error(`tracking status: ${message}`, { cause });
}

interface Release {
  readonly releasedUIDs: ReadonlySet<string>;
  readonly error?: unknown;
}

const NOTHING_RELEASED: Release = { releasedUIDs: NO_UIDS };

/** Removes the tracking finalizers of counted pods, all at once. Upstream: removeTrackingFinalizerFromPods. */
async function releasePods(
  key: ObjectKey,
  { release }: Accounting,
  { podControl, memory }: JobSyncDeps,
  signal: AbortSignal,
): Promise<Release> {
  const releasedUIDs = new Set<string>();
  let failure: { readonly error: unknown } | undefined;
  const releaseOne = async (pod: PodObject): Promise<void> => {
    try {
      await removeTrackingFinalizer(podControl, pod, signal);
    } catch (error) {
      // No event of the pod is certain to come.
      memory.finalizers.finalizerRemovalObserved(key, uidOf(pod));
      if (!isNotFound(error)) {
        failure ??= { error };
        return;
      }
    }
    releasedUIDs.add(uidOf(pod));
  };
  memory.finalizers.expectFinalizersRemoved(key, release.map(uidOf));
  await (release.length === 1 ? releaseOne(release[0]!) : Promise.all(release.map(releaseOne)));
  return { releasedUIDs, ...failure };
}

/** Upstream: job_controller.go recordJobFinished. */
function announceFinish(
  job: JobObject,
  { succeeded }: StatusDraft,
  { type, reason, message }: TerminalCondition,
  { events, metrics }: JobSyncDeps,
): void {
  const result = type === "Complete" ? "succeeded" : "failed";
  metrics.jobFinished({ completion_mode: completionModeOf(job), result, reason });
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
