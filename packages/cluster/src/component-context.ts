import type { ResourceDefinition, VersionBehaviours } from "@kubewright/api";
import type { ControllerDeps } from "@kubewright/controller";
import type { InformerFactory } from "@kubewright/informer";
import type { JobControllerOptions } from "@kubewright/job";

import type { Decision } from "./controllers.js";

/** Dependencies and settings of a component of the cluster. */
export interface ComponentContext extends ControllerDeps {
  readonly informers: InformerFactory;
  /** Zone of CronJobs without `timeZone`. */
  readonly localTimeZone: string;
  /** Slots of CronJobs before this time, in epoch milliseconds, are not reported as missed. Default: all are. */
  readonly missedSince: number | undefined;
  /** Number of ended pods that PodGC keeps. Default: as upstream. */
  readonly terminatedPodGCThreshold: number | undefined;
  /** Settings of the Job controller. Default: as upstream. */
  readonly jobController?: Pick<JobControllerOptions, "consistencyGate" | "limits"> | undefined;
  /** Resources that the garbage collector ignores, in addition to events. Default: none. */
  readonly garbageCollectorIgnores?: ((resource: ResourceDefinition) => boolean) | undefined;
  /** Minimum duration of watches, for a component's own informers: a watch lasts between this and twice this. */
  readonly watchTimeoutMs: number;
  /**
   * Interval of resource discovery. Infinite where a CustomResourceDefinition triggers it immediately, and nothing else
   * changes the resources.
   */
  readonly discoveryIntervalMs: number;
  /** Behaviours of the cluster's release. */
  readonly behaviours: VersionBehaviours;
  readonly onDecision: (decision: Decision) => void;
}
