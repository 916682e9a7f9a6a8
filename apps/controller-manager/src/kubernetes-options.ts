import type { KubernetesOptions } from "@kubewright/manager/kubernetes";

import type { ControllerManagerDeps } from "./controller-manager-deps.js";

/** The options of each controller, from flags. */
export function kubernetesOptions({
  options,
  operations,
  localTimeZone,
}: Pick<ControllerManagerDeps, "options" | "operations" | "localTimeZone">): KubernetesOptions {
  const metrics = operations?.metrics.controllers;
  return {
    "job-controller": {
      workers: options.concurrentJobSyncs,
      managedBy: options.managedBy === "" ? undefined : options.managedBy,
      maxSyncBatchPeriodMs: options.jobSyncBatchPeriodMs,
      limits: {
        podBackoffBaseMs: options.jobPodFailureBackoffBaseMs,
        podBackoffMaxMs: options.jobPodFailureBackoffMaxMs,
        maxUncountedPods: options.jobMaxUncountedPods,
        maxPodsPerSync: options.jobMaxPodCreateDeletePerSync,
      },
      metrics: metrics?.job,
    },
    "cronjob-controller": { workers: options.concurrentCronJobSyncs, localTimeZone, metrics: metrics?.cronJob },
    "pod-garbage-collector-controller": {
      terminatedPodThreshold: options.terminatedPodGcThreshold,
      periodMs: options.podgcPeriodMs,
      quarantineMs: options.podgcQuarantineMs,
      metrics: metrics?.podGC,
    },
    "ttl-after-finished-controller": {
      workers: options.concurrentTtlAfterFinishedSyncs,
      metrics: metrics?.ttlAfterFinished,
    },
    "garbage-collector-controller": { workers: options.concurrentGcSyncs, metrics: metrics?.garbageCollector },
  };
}
