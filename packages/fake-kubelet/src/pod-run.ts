import type { ContainerState, DeepReadonly, Pod } from "@kubewright/api";
import type { Timer } from "@kubewright/clock";

import type { BackOff } from "./crash-loop-back-off.js";
import type { PodExecution, PodIdentity } from "./pod-outcome-sampler.js";
import type { Workload } from "./workload.js";

/** How a container ended, as the status says it. */
export type Termination = NonNullable<ContainerState["terminated"]>;

/** How a pod's containers ended. */
export interface Ending extends Termination {
  /** Those that ended otherwise than the rest, by name. */
  readonly perContainer?: ReadonlyMap<string, Termination>;
}

/**
 * What the kubelet remembers of a pod it runs. All containers of a pod are started and restarted together. Times are monotonic
 * milliseconds: those in the status have only whole seconds, and the wall clock may be set.
 */
export interface PodRun {
  readonly uid: string;
  /** What lots are drawn under. */
  readonly identity: PodIdentity;
  readonly workload: Workload;
  /** When the pod was accepted, from which its deadline counts. */
  acceptedAtMs?: number;
  /** When the deletion was first seen. */
  deletionSeenAtMs?: number;
  backOff?: BackOff;
  /** The server's answer to the last write: newer than the cache, for a while. */
  latest?: DeepReadonly<Pod>;
  stage: Stage;
  /** Until the next thing that happens to the pod by itself. */
  timer?: Timer | undefined;
}

export type Stage =
  /** Bound to the node, and not looked at yet. */
  | { readonly name: "bound" }
  /** Pulling images. */
  | { readonly name: "starting"; readonly startAtMs: number }
  | {
      readonly name: "running";
      readonly restarts: number;
      readonly startedAtMs: number;
      readonly startedAt: string;
      readonly execution: PodExecution;
    }
  /** Crashed, and waiting to be started again. */
  | {
      readonly name: "backingOff";
      readonly restarts: number;
      readonly exitedAtMs: number;
      readonly restartAtMs: number;
      readonly last: Ending;
    }
  /** The last status was written. */
  | { readonly name: "finished" };
