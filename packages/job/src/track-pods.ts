import { jobs } from "@kubewright/api";
import { errorMessage, isNotFound } from "@kubewright/client";

import { type Accounting, type TerminalCondition, finishAccounting } from "./account-pods.js";
import { deleteActivePods } from "./apply-pod-plan.js";
import { completionModeOf, countFinished } from "./job-metrics.js";
import { type JobObject, type PodObject, completionsOf } from "./job-spec.js";
import { recordsBeforeDeleting } from "./plan-job.js";
import type { PodFailureAction } from "./pod-failure-policy.js";
import { NO_UIDS, uidOf } from "./pod-state.js";
import type { PodOutcome } from "./reconcile-status.js";
import { type StatusDraft, draftOf, statusOf } from "./status-draft.js";
import type { JobSync, JobSyncDeps } from "./sync-deps.js";
import { removeTrackingFinalizer } from "./tracking-finalizer.js";

/**
 * Performs the accounting of ended pods: writes the status, removes the finalizers, writes the status again. Ends the
 * Job when no pod is left to count.
 *
 * @param outcome - State of the pods now, or after their pending deletion.
 * @returns The final state of the pods.
 * @throws Any rejected request, after as much as possible was done. Upstream: job_controller.go
 * trackJobStatusAndRemoveFinalizers, flushUncountedAndRemoveFinalizers.
 */
export async function trackPods(sync: JobSync, accounting: Accounting, outcome: PodOutcome): Promise<PodOutcome> {
  const { job, plan, deps, record } = sync;
  const { memory, metrics, clock } = deps;
  const { counted, needsFlush, policyActions } = accounting;
  const { succeeded, failed } = counted;
  if (succeeded + failed > 0) record.reasons.push({ type: "PodsCounted", succeeded, failed });

  let current = job;
  let { draft } = accounting;
  let step = "";
  try {
    if (needsFlush) {
      step = "adding uncounted pods to status: ";
      current = recordStatusWrite(sync, current, draft, await writeStatus(sync, current, draft));
      draft = draftOf(current.status);
      memory.backoff.set(sync.key, plan.backoff);
      step = "";
    }
    for (const [action, count] of Object.entries(policyActions))
      metrics.podFailuresHandled({ action: action as PodFailureAction }, count);
    const final = recordsBeforeDeleting(plan) ? await deleteActivePods(sync) : outcome;
    // A pod that could not be deleted may still succeed, and must be counted then.
    const podsToRemoveFinalizer = without(accounting.podsToRemoveFinalizer, final.undeleted);
    const { finalizerRemovedUIDs, failure } =
      podsToRemoveFinalizer.length === 0
        ? NO_FINALIZERS_REMOVED
        : await removeTrackingFinalizerFromPods(sync, podsToRemoveFinalizer);
    const finalizerRemovalFailed = failure !== undefined;
    const nowMs = clock.now();
    const finish = finishAccounting({
      draft,
      accounting,
      plan,
      outcome: final,
      finalizerRemovedUIDs,
      finalizerRemovalFailed,
      nowMs,
    });
    if (finish.needsFlush) {
      step = "removing uncounted pods from status: ";
      recordStatusWrite(sync, current, finish.draft, await writeStatus(sync, current, finish.draft));
      step = "";
      if (finish.finished !== undefined) {
        memory.finished.add(job.metadata.uid ?? "");
        recordJobFinished(current, finish.draft, finish.finished, deps);
      }
    }
    record.reasons.push(...finish.reasons);
    if (failure !== undefined) throw failure.error;
    return final;
  } catch (error) {
    throw new Error(`tracking status: ${step}${errorMessage(error)}`, { cause: error });
  }
}

function without(pods: readonly PodObject[], others: readonly PodObject[]): readonly PodObject[] {
  const left = new Set(others);
  return pods.filter((pod) => !left.has(pod));
}

/** Sends a full update with the Job's resourceVersion. A conflict fails the sync; the next sync reads the Job again. */
function writeStatus({ deps, signal }: JobSync, job: JobObject, draft: StatusDraft): Promise<JobObject> {
  return deps.jobClient.updateStatus({ ...job, status: statusOf(draft) }, { signal });
}

/** Records a successful {@link writeStatus} in metrics and memory. */
function recordStatusWrite(
  { key, deps, record }: JobSync,
  job: JobObject,
  draft: StatusDraft,
  written: JobObject,
): JobObject {
  record.statusWrites++;
  countFinished(deps.metrics, job, draft);
  deps.memory.consistency.wroteAt(key, job.metadata.uid ?? "", jobs, written.metadata.resourceVersion ?? "");
  return written;
}

interface FinalizerRemoval {
  readonly finalizerRemovedUIDs: ReadonlySet<string>;
  /** The first rejection, if any. */
  readonly failure?: { readonly error: unknown } | undefined;
}

const NO_FINALIZERS_REMOVED: FinalizerRemoval = { finalizerRemovedUIDs: NO_UIDS };

/** Removes the tracking finalizers of counted pods, all concurrently. Upstream: removeTrackingFinalizerFromPods. */
async function removeTrackingFinalizerFromPods(
  { key, deps, signal }: JobSync,
  pods: readonly PodObject[],
): Promise<FinalizerRemoval> {
  const { podControl, memory } = deps;
  const finalizerRemovedUIDs = new Set<string>();
  let failure: FinalizerRemoval["failure"];
  const removeOne = async (pod: PodObject): Promise<void> => {
    try {
      await removeTrackingFinalizer(podControl, pod, signal);
    } catch (error) {
      // The deletion event of a missing pod is still to come: until then the pod must not be counted again. Upstream
      // expects no event, and counts the pod in every sync while its cache lags.
      if (!isNotFound(error)) {
        memory.finalizers.finalizerRemovalObserved(key, uidOf(pod));
        failure ??= { error };
        return;
      }
    }
    finalizerRemovedUIDs.add(uidOf(pod));
  };
  memory.finalizers.expectFinalizersRemoved(key, pods.map(uidOf));
  // A single call is awaited directly: `Promise.all` takes two more microtask turns, which reorders records of the same
  // instant.
  await (pods.length === 1 ? removeOne(pods[0]!) : Promise.all(pods.map(removeOne)));
  return { finalizerRemovedUIDs, failure };
}

/** Upstream: job_controller.go recordJobFinished. */
function recordJobFinished(
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
