import type { ContainerState, DeepReadonly, Pod } from "@kubewright/api";
import type { BackOff } from "@kubewright/cluster/kubelet";

export type Termination = NonNullable<ContainerState["terminated"]>;

/** The state of a pod that this kubelet has accepted. Times are monotonic milliseconds, unless they are strings. */
export interface PodRun {
  readonly uid: string;
  /** The newest known version, from the cache or from the response to the last write. */
  latest: DeepReadonly<Pod>;
  acceptedAtMs?: number;
  /** The `startTime` of the pod's status. */
  startTime?: string;
  /** In order. Init containers that run beside the others are sidecars. */
  readonly initContainers: readonly ContainerRun[];
  readonly containers: readonly ContainerRun[];
  /** Why no more containers start, and how long the present ones may take to end. */
  ending?: PodEnding;
}

export type PodEnding = {
  /** `completed`: only sidecars still run. */
  readonly cause: "completed" | "deleted" | "deadlineExceeded" | "shutdown";
  readonly killAtMs: number;
};

export interface ContainerRun {
  readonly name: string;
  readonly isSidecar: boolean;
  state: ContainerStage;
  /** Number of restarts. */
  restarts: number;
  /** How the previous run ended. */
  last?: Termination;
  backOff?: BackOff;
}

export type ContainerStage =
  | { readonly name: "created" }
  /** The container cannot start with the present data. */
  | { readonly name: "refused"; readonly reason: string; readonly message: string; readonly retryAtMs: number }
  | {
      readonly name: "running";
      readonly startedAt: string;
      /** The last signal that was sent. */
      readonly lastSignal: "nothing" | "SIGTERM" | "SIGKILL";
    }
  | { readonly name: "exited"; readonly termination: Termination; readonly exitedAtMs: number };

/** Returns all containers of the pod. */
export function allContainers({ initContainers, containers }: PodRun): ContainerRun[] {
  return [...initContainers, ...containers];
}

/** Returns whether any container of the pod runs. */
export function isRunning(run: PodRun): boolean {
  return allContainers(run).some(({ state }) => state.name === "running");
}
