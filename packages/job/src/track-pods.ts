import { type ObjectKey, jobs } from "@kubewright/api";
import { errorMessage, isNotFound } from "@kubewright/client";

import { type Accounting, type TerminalCondition, finishAccounting } from "./account-pods.js";
import { deleteActivePods } from "./apply-pod-plan.js";
import { completionModeOf, countFinished } from "./job-metrics.js";
import { type JobObject, type PodObject, completionsOf } from "./job-spec.js";
import { type JobPlan, recordsBeforeDeleting } from "./plan-job.js";
import type { PodFailureAction } from "./pod-failure-policy.js";
import { NO_UIDS, uidOf } from "./pod-state.js";
import type { PodOutcome } from "./settle-status.js";
import { type StatusDraft, draftOf, statusOf } from "./status-draft.js";
import type { JobSyncDeps, SyncRecord } from "./sync-deps.js";
import { removeTrackingFinalizer } from "./tracking-finalizer.js";

/**
 * Performs the accounting for ended pods: status, finalizers, status. Ends the Job when nothing is left to account for.
 *
 * @param outcome - What has become of the pods, or will have once they are deleted.
 * @returns what has become of them.
 * @throws what was refused, after as much as could be done.
 * Upstream: job_controller.go trackJobStatusAndRemoveFinalizers, flushUncountedAndRemoveFinalizers.
 */
export async function trackPods(
  key: ObjectKey,
  job: JobObject,
  plan: JobPlan,
  accounting: Accounting,
  outcome: PodOutcome,
  deps: JobSyncDeps,
  record: SyncRecord,
  signal: AbortSignal,
): Promise<PodOutcome> {
  const { memory, metrics, clock } = deps;
  const { counted, needsFlush, policyActions } = accounting;
  const { succeeded, failed } = counted;
  if (succeeded + failed > 0) record.reasons.push({ type: "PodsCounted", succeeded, failed });

  let current = job;
  let draft = accounting.draft;
  let final = outcome;
  let step = "";
  try {
    if (needsFlush) {
      step = "adding uncounted pods to status: ";
      current = await deps.jobClient.updateStatus(withStatus(job, draft), { signal });
      noteStatusWrite(key, job, draft, current, deps, record);
      draft = draftOf(current.status);
      memory.backoff.set(key, plan.backoff);
      step = "";
    }
    for (const [action, count] of Object.entries(policyActions))
      metrics.podFailuresHandled({ action: action as PodFailureAction }, count);
    if (recordsBeforeDeleting(plan)) final = await deleteActivePods(job, plan, deps, signal);
    // A pod that could not be deleted may yet succeed, and is to be counted then.
    const release = without(accounting.release, final.undeleted);
    const { releasedUIDs, error } =
      release.length === 0 ? NOTHING_RELEASED : await releasePods(key, release, deps, signal);
    const releaseFailed = error !== undefined;
    const nowMs = clock.now();
    const finish = finishAccounting({ draft, accounting, plan, outcome: final, releasedUIDs, releaseFailed, nowMs });
    if (finish.needsFlush) {
      step = "removing uncounted pods from status: ";
      const written = await deps.jobClient.updateStatus(withStatus(current, finish.draft), { signal });
      noteStatusWrite(key, current, finish.draft, written, deps, record);
      step = "";
      if (finish.finished !== undefined) {
        memory.finished.add(job.metadata.uid ?? "");
        announceFinish(current, finish.draft, finish.finished, deps);
        const { type: condition, reason, message } = finish.finished;
        record.reasons.push({ type: "Finished", condition, reason, message });
      }
    }
    if (releaseFailed) throw error;
    if (finish.waiting !== undefined) record.reasons.push(finish.waiting);
    return final;
  } catch (error) {
    throw new Error(`tracking status: ${step}${errorMessage(error)}`, { cause: error });
  }
}

function without(pods: readonly PodObject[], others: readonly PodObject[]): readonly PodObject[] {
  if (others.length === 0) return pods;
  const left = new Set(others);
  return pods.filter((pod) => !left.has(pod));
}

/** For a full update under the Job's resourceVersion. A conflict fails the sync; the next one has a fresh Job. */
function withStatus(job: JobObject, draft: StatusDraft): JobObject {
  return { ...job, status: statusOf(draft) };
}

function noteStatusWrite(
  key: ObjectKey,
  job: JobObject,
  draft: StatusDraft,
  written: JobObject,
  { memory, metrics }: JobSyncDeps,
  record: SyncRecord,
): void {
  record.statusWrites++;
  countFinished(metrics, job, draft);
  memory.consistency.wroteAt(key, job.metadata.uid ?? "", jobs, written.metadata.resourceVersion ?? "");
}

interface Release {
  readonly releasedUIDs: ReadonlySet<string>;
  readonly error?: unknown;
}

const NOTHING_RELEASED: Release = { releasedUIDs: NO_UIDS };

/** Removes the tracking finalizers of counted pods, all at once. Upstream: removeTrackingFinalizerFromPods. */
async function releasePods(
  key: ObjectKey,
  release: readonly PodObject[],
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
  const completions = completionsOf(job);
  if (completions !== undefined && succeeded > completions) {
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
