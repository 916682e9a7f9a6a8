import {
  PodGCController,
  type PodGCControllerOptions,
  TerminatedPodCollector,
  TerminatedPodCounts,
} from "@kubewright/podgc";

import type { KubernetesDefinition } from "./define.js";

/** Each replica collects the pods of its namespaces. The threshold of terminated pods is one for the whole cluster. */
export const podGC: KubernetesDefinition<PodGCControllerOptions> = {
  clientName: "pod-garbage-collector",
  sharing: "namespaces",
  start: () => {
    const counts = new TerminatedPodCounts();
    return {
      build: (options, bucket) => {
        if (bucket === undefined) return new PodGCController(options);
        const controller = new PodGCController({ ...options, terminatedPodThreshold: 0 });
        counts.add(bucket.work.bucket, controller, bucket.signal);
        return controller;
      },
      buildClusterWide: (options, { annotationsOfOthers }) =>
        new TerminatedPodCollector({ ...options, countTerminated: () => counts.clusterTotal(annotationsOfOthers()) }),
      annotations: () => counts.annotations(),
    };
  },
};
