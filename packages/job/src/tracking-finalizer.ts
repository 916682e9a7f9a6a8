import { JOB_TRACKING_FINALIZER } from "@kubewright/api";
import type { PodControl } from "@kubewright/controller";

import type { PodObject } from "./job-spec.js";
import { hasTrackingFinalizer } from "./pod-state.js";

const REMOVE_FINALIZER = { metadata: { "$deleteFromPrimitiveList/finalizers": [JOB_TRACKING_FINALIZER] } };

/**
 * Removes the tracking finalizer from a pod, if the given pod has it.
 *
 * @throws StatusError `NotFound` when the pod is gone, which most callers treat as success. Upstream: job_controller.go
 * removeTrackingFinalizerPatch.
 */
export function removeTrackingFinalizer(podControl: PodControl, pod: PodObject, signal: AbortSignal): Promise<unknown> {
  if (!hasTrackingFinalizer(pod)) return Promise.resolve();
  return podControl.patchPod(pod.metadata.namespace ?? "", pod.metadata.name ?? "", REMOVE_FINALIZER, signal);
}
