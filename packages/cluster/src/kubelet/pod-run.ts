import type { ContainerState, DeepReadonly, Pod } from "@kubewright/api";
import type { Timer } from "@kubewright/clock";

import type { BackOff } from "./crash-loop-back-off.js";
import type { PodExecution, PodIdentity } from "./pod-outcome-sampler.js";
import type { Workload } from "./workload.js";

/** The end of a container, in the format of the status. */
export type Termination = NonNullable<ContainerState["terminated"]>;

/** The end of a pod's containers. */
export interface Ending extends Termination {
  /** Containers with a different end, by name. */
  readonly perContainer?: ReadonlyMap<string, Termination>;
}

/**
 * The kubelet's state of a pod. All containers of a pod are started and restarted together. Times are monotonic
 * milliseconds, because status times have whole seconds and the wall clock may be changed.
 */
export interface PodRun {
  readonly uid: string;
  /** Identity for sampling. */
  readonly identity: PodIdentity;
  readonly workload: Workload;
  /** When the pod was accepted; its deadline counts from here. */
  acceptedAtMs?: number;
  /** When the deletion was first observed. */
  deletionSeenAtMs?: number;
  backOff?: BackOff;
  /** The server's answer to the last write, which may be newer than the cache. */
  latest?: DeepReadonly<Pod>;
  stage: Stage;
  /** Fires when the next time-dependent step is due. */
  timer?: Timer | undefined;
}

export type Stage =
  /** Bound to the node, and not processed yet. */
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
  /** Crashed, and waiting for the restart. */
  | {
      readonly name: "backingOff";
      readonly restarts: number;
      readonly exitedAtMs: number;
      readonly restartAtMs: number;
      readonly last: Ending;
    }
  /** The final status was written. */
  | { readonly name: "finished" };
