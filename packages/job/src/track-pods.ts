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
 * Performs the accounting for ended pods: status, finalizers, status. Ends the Job when nothing is left to account for.
 *
 * @param outcome - What has become of the pods, or will have once they are deleted.
 * @returns what has become of them.
 * @throws what was refused, after as much as could be done.
 * Upstream: job_controller.go trackJobStatusAndRemoveFinalizers, flushUncountedAndRemoveFinalizers.
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
    // A pod that could not be deleted may yet succeed, and is to be counted then.
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

/** A full update under the Job's resourceVersion. A conflict fails the sync; the next one has a fresh Job. */
function writeStatus({ deps, signal }: JobSync, job: JobObject, draft: StatusDraft): Promise<JobObject> {
  return deps.jobClient.updateStatus({ ...job, status: statusOf(draft) }, { signal });
}

/** Takes note of what {@link writeStatus} has written. */
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
  /** The first refusal, if any. */
  readonly failure?: { readonly error: unknown } | undefined;
}

const NO_FINALIZERS_REMOVED: FinalizerRemoval = { finalizerRemovedUIDs: NO_UIDS };

/** Removes the tracking finalizers of counted pods, all at once. Upstream: removeTrackingFinalizerFromPods. */
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
      // Of a pod that is gone an event is to come: until then it is not to be counted again. Upstream expects none, and counts
      // the pod with every sync for as long as its cache is behind.
      if (!isNotFound(error)) {
        memory.finalizers.finalizerRemovalObserved(key, uidOf(pod));
        failure ??= { error };
        return;
      }
    }
    finalizerRemovedUIDs.add(uidOf(pod));
  };
  memory.finalizers.expectFinalizersRemoved(key, pods.map(uidOf));
  // A lone one is awaited as it is: gathering takes two turns of the promise queue more, and moves records of an instant.
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
