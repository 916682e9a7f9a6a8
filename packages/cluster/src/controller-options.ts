import { NEWEST_VERSION, type ResourceDefinition, behavioursOf } from "@kubewright/api";
import type { JobControllerOptions } from "@kubewright/job";
import type { KubernetesOptions } from "@kubewright/manager/kubernetes";

import type { ClusterOptions } from "./cluster.js";

export interface ControllerSettings extends Pick<
  ClusterOptions,
  "kubernetesVersion" | "localTimeZone" | "missedSince" | "terminatedPodGCThreshold"
> {
  /** Settings of the Job controller. Default: as upstream. */
  readonly jobController?: Pick<JobControllerOptions, "consistencyGate" | "limits">;
  /** Resources that the garbage collector ignores, in addition to events. Default: none. */
  readonly garbageCollectorIgnores?: ((resource: ResourceDefinition) => boolean) | undefined;
  /** Minimum duration of watches: a watch lasts between this and twice this. */
  readonly watchTimeoutMs: number;
  /**
   * Interval of resource discovery. Infinite where a CustomResourceDefinition triggers it immediately, and nothing else
   * changes the resources.
   */
  readonly discoveryIntervalMs: number;
}

/** The options of each controller of a cluster. */
export function controllerOptions(settings: ControllerSettings): KubernetesOptions {
  const { kubernetesVersion = NEWEST_VERSION, localTimeZone = "UTC", missedSince, jobController } = settings;
  const { terminatedPodGCThreshold, garbageCollectorIgnores, watchTimeoutMs, discoveryIntervalMs } = settings;
  return {
    "job-controller": { behaviours: behavioursOf(kubernetesVersion), ...jobController },
    "cronjob-controller": { localTimeZone, missedSince },
    ...(terminatedPodGCThreshold === undefined
      ? {}
      : { "pod-garbage-collector-controller": { terminatedPodThreshold: terminatedPodGCThreshold } }),
    "garbage-collector-controller": {
      ignores: garbageCollectorIgnores,
      minWatchTimeoutMs: watchTimeoutMs,
      discoveryIntervalMs,
    },
  };
}
