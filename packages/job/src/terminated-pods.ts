import type { Pod } from "@kubewright/api";
import { isPodTerminal } from "@kubewright/controller";
import { type EventHandler, isDeletedFinalStateUnknown } from "@kubewright/informer";

import type { JobMetrics } from "./job-metrics.js";
import type { PodObject } from "./job-spec.js";
import { hasTrackingFinalizer } from "./pod-state.js";

/**
 * Counts transitions of pods, of any owner, into and out of the state terminated with the tracking finalizer. A pod
 * whose deletion was missed is not counted.
 *
 * Upstream: job_controller.go recordFinishedPodWithTrackingFinalizer.
 */
export function terminatedPodCounter(metrics: JobMetrics): EventHandler<Pod> {
  const isCounted = (pod: PodObject): boolean => isPodTerminal(pod) && hasTrackingFinalizer(pod);
  const recordTransition = (before: boolean, after: boolean): void => {
    if (before !== after) metrics.terminatedPodTracked({ event: after ? "add" : "delete" });
  };
  return {
    onAdd: (pod) => recordTransition(false, isCounted(pod)),
    onUpdate: (before, pod) => recordTransition(isCounted(before), isCounted(pod)),
    onDelete(deleted) {
      if (!isDeletedFinalStateUnknown(deleted)) recordTransition(isCounted(deleted), false);
    },
  };
}
