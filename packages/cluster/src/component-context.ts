import type { ResourceDefinition, VersionBehaviours } from "@kubewright/api";
import type { ControllerDeps } from "@kubewright/controller";
import type { InformerFactory } from "@kubewright/informer";
import type { JobControllerOptions } from "@kubewright/job";

import type { Decision } from "./controllers.js";

/** What a component of the cluster is handed. */
export interface ComponentContext extends ControllerDeps {
  readonly informers: InformerFactory;
  /** Zone of CronJobs without `timeZone`. */
  readonly localTimeZone: string;
  /** Slots of CronJobs before this time, in epoch milliseconds, are not reported as missed. Default: all are. */
  readonly missedSince: number | undefined;
  /** Ended pods that are let be. Default: as upstream. */
  readonly terminatedPodGCThreshold: number | undefined;
  /** How the Job controller is set up. Default: as upstream. */
  readonly jobController?: Pick<JobControllerOptions, "consistencyGate" | "limits"> | undefined;
  /** Resources that the garbage collector does not follow, beside events. Default: none. */
  readonly garbageCollectorIgnores?: ((resource: ResourceDefinition) => boolean) | undefined;
  /** For informers of its own: watches last between this and twice this. */
  readonly watchTimeoutMs: number;
  /** How often to ask what resources there are. Infinite where they change with CustomResourceDefinitions only, at once. */
  readonly discoveryIntervalMs: number;
  /** Of the release that the cluster is like. */
  readonly behaviours: VersionBehaviours;
  readonly onDecision: (decision: Decision) => void;
}
