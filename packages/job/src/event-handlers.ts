import {
  type Job,
  type ObjectKey,
  type Pod,
  secondsAsDurationMs,
  getControllerOf,
  isJobFinished,
  keyOf,
  parseTime,
} from "@kubewright/api";
import type { Clock } from "@kubewright/clock";
import type { Logger } from "@kubewright/controller";
import {
  type EventHandler,
  type Lister,
  deletedObject,
  isDeletedFinalStateUnknown,
  isRecreated,
} from "@kubewright/informer";
import type { RateLimitingQueue } from "@kubewright/workqueue";

import { type jobPodsIndex, jobPodsOf } from "./job-pods-index.js";
import type { JobMemory } from "./job-memory.js";
import type { JobMetrics } from "./job-metrics.js";
import { type JobObject, type PodObject, isBeingDeleted, isManagedElsewhere } from "./job-spec.js";
import { type OrphanKey, orphanPodKey, orphanSelectorKey } from "./orphan-key.js";
import { trackedPodsIndex, trackedPodsIndexValue } from "./orphan-pods.js";
import { hasTrackingFinalizer, uidOf } from "./pod-state.js";
import { matchingJobs, resolveJobKey, selectorOf } from "./resolve-job.js";
import type { SyncBatches } from "./sync-batches.js";

export interface HandlerDeps {
  /** The Jobs that this controller handles. */
  readonly jobs: Pick<Lister<Job>, "get" | "listNamespace">;
  readonly pods: Pick<Lister<Pod, typeof trackedPodsIndex | typeof jobPodsIndex>, "byIndex">;
  readonly queue: RateLimitingQueue<ObjectKey>;
  readonly orphanQueue: Pick<RateLimitingQueue<OrphanKey>, "add">;
  readonly memory: JobMemory;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: Pick<JobMetrics, "externalJobAdded">;
  /** Batches events that arrive in large numbers. */
  readonly batches: Pick<SyncBatches, "add" | "cancel">;
  /** Same as in `JobSyncDeps`. */
  readonly managedBy?: string | undefined;
}

/** Handles events of Jobs. Upstream: job_controller.go addJob (in newController), updateJob, deleteJob. */
export function jobEventHandler(deps: HandlerDeps): EventHandler<Job> {
  const { pods, queue, batches, orphanQueue, memory, clock, logger, metrics, managedBy } = deps;
  const addOrphans = (job: JobObject): void => {
    // The built-in controller removes the finalizers for every deleted Job, so another controller handles only its own
    // Jobs.
    if (managedBy !== undefined && isManagedElsewhere(job, managedBy)) return;
    const tracked = pods.byIndex(
      trackedPodsIndex,
      trackedPodsIndexValue(job.metadata.namespace ?? "", job.spec?.selector),
    );
    const matches = selectorOf(job);
    // Upstream handles pods that have lost their labels only at their next event.
    for (const pod of jobPodsOf(pods, job))
      if (hasTrackingFinalizer(pod) && matches?.(pod.metadata.labels) !== true) orphanQueue.add(orphanPodKey(pod));
    if (tracked.length === 0) return;
    if (matches === undefined)
      logger.error({ job: keyOf(job), selector: job.spec?.selector }, "The Job's label selector cannot be read");
    else if (tracked.some(({ metadata }) => matches(metadata.labels))) orphanQueue.add(orphanSelectorKey(job));
  };
  const onAdd = (job: JobObject): void => {
    queue.addAfter(keyOf(job), 0);
    if (job.spec?.managedBy != null && isManagedElsewhere(job, managedBy))
      metrics.externalJobAdded({ controller_name: job.spec.managedBy });
  };
  const forget = (job: JobObject): void => {
    const uid = job.metadata.uid ?? "";
    memory.consistency.clear(keyOf(job), uid);
    memory.finished.delete(uid);
    addOrphans(job);
    memory.backoff.delete(keyOf(job));
  };
  return {
    onAdd,
    onUpdate(before, job) {
      const key = keyOf(job);
      // Upstream treats another Job of the same name as an update. Pods of the first Job may then keep their finalizer
      // for ever.
      if (isRecreated(before, job)) {
        memory.forgetKey(key);
        forget(before);
        return onAdd(job);
      }
      if (isJobFinished(job)) {
        // This is all that a sync would do.
        if (batches.cancel(key)) memory.forgetFinished(key, job.metadata.uid ?? "");
        return addOrphans(job);
      }
      // Only spec changes increase the generation. Status writes, most of them by this controller, can wait for the
      // batch.
      if (job.metadata.generation === before.metadata.generation) batches.add(key);
      else queue.addAfter(key, 0);
      const startMs = parseTime(job.status?.startTime);
      const seconds = job.spec?.activeDeadlineSeconds;
      if (startMs !== undefined && seconds != null && seconds !== before.spec?.activeDeadlineSeconds) {
        queue.addAfter(key, secondsAsDurationMs(seconds) - (clock.now() - startMs));
      }
    },
    onDelete(deleted) {
      const key = isDeletedFinalStateUnknown(deleted) ? deleted.key : keyOf(deleted);
      if (batches.cancel(key)) memory.forgetKey(key);
      else queue.addAfter(key, 0);
      const job = deletedObject(deleted);
      if (job !== undefined) forget(job);
    },
  };
}

/** Handles events of pods. Upstream: job_controller.go addPod, updatePod, deletePod. */
export function podEventHandler({ jobs, batches, orphanQueue, memory, logger }: HandlerDeps): EventHandler<Pod> {
  const enqueueMatching = (pod: PodObject): void => {
    const matching = matchingJobs(jobs, pod);
    if (matching.length > 1) {
      logger.error(
        { pod: keyOf(pod), labels: pod.metadata.labels },
        "user error! more than one job is selecting pods with labels",
      );
    }
    for (const job of matching) batches.add(keyOf(job));
  };
  const addIfTracked = (pod: PodObject): void => {
    if (hasTrackingFinalizer(pod)) orphanQueue.add(orphanPodKey(pod));
  };
  /**
   * A pod that is first observed after its Job has ended is never counted. Upstream keeps its finalizer until the pod
   * is deleted.
   */
  const addIfJobFinished = (key: ObjectKey, pod: PodObject): void => {
    const job = jobs.get(key);
    if (job !== undefined && isJobFinished(job)) addIfTracked(pod);
  };
  const ownerOf = (pod: PodObject): ObjectKey | undefined => {
    const reference = getControllerOf(pod);
    return reference && resolveJobKey(jobs, pod.metadata.namespace ?? "", reference);
  };

  const onAdd = (pod: PodObject): void => {
    // After a restart, pods that are being deleted arrive as added: they are no creations.
    if (isBeingDeleted(pod)) return onRemoved(pod, false);
    if (getControllerOf(pod) !== undefined) {
      const key = ownerOf(pod);
      if (key === undefined) return;
      memory.expectations.creationObserved(key);
      addIfJobFinished(key, pod);
      return batches.add(key);
    }
    addIfTracked(pod);
    enqueueMatching(pod);
  };

  const onUpdate = (before: PodObject, pod: PodObject): void => {
    if (isRecreated(before, pod)) {
      onRemoved(before, true);
      return onAdd(pod);
    }
    if (pod.metadata.resourceVersion === before.metadata.resourceVersion) return;
    if (isBeingDeleted(pod)) return onRemoved(pod, false);
    // Not compared with the old pod: events may be merged, and the expectation must be met nevertheless.
    const noFinalizer = !hasTrackingFinalizer(pod);
    const observe = (key: ObjectKey): void => {
      if (noFinalizer) memory.finalizers.finalizerRemovalObserved(key, uidOf(pod));
      batches.add(key);
    };
    const referenceChanged = controllerChanged(before, pod);
    if (referenceChanged) {
      const formerOwner = ownerOf(before);
      if (formerOwner !== undefined) observe(formerOwner);
    }
    if (getControllerOf(pod) !== undefined) {
      const owner = ownerOf(pod);
      if (owner === undefined) return;
      addIfJobFinished(owner, pod);
      return observe(owner);
    }
    addIfTracked(pod);
    if (referenceChanged || labelsChanged(before, pod)) enqueueMatching(pod);
  };

  const onRemoved = (pod: PodObject, final: boolean): void => {
    const key = ownerOf(pod);
    const job = key && jobs.get(key);
    if (key === undefined || job === undefined || isJobFinished(job)) return addIfTracked(pod);
    memory.expectations.deletionObserved(key);
    if (final || !hasTrackingFinalizer(pod)) memory.finalizers.finalizerRemovalObserved(key, uidOf(pod));
    batches.add(key);
  };

  return {
    onAdd,
    onUpdate,
    onDelete(deleted) {
      const pod = deletedObject(deleted);
      if (pod !== undefined) onRemoved(pod, true);
    },
  };
}

function controllerChanged(before: PodObject, pod: PodObject): boolean {
  if (before.metadata.ownerReferences === pod.metadata.ownerReferences) return false;
  const a = getControllerOf(before);
  const b = getControllerOf(pod);
  return a?.uid !== b?.uid || a?.name !== b?.name || a?.kind !== b?.kind || a?.apiVersion !== b?.apiVersion;
}

function labelsChanged(before: PodObject, pod: PodObject): boolean {
  const a = before.metadata.labels ?? {};
  const b = pod.metadata.labels ?? {};
  const names = Object.keys(a);
  return names.length !== Object.keys(b).length || names.some((name) => a[name] !== b[name]);
}
