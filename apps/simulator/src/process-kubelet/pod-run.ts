import type { ContainerState, DeepReadonly, Pod } from "@kubewright/api";
import type { BackOff } from "@kubewright/fake-kubelet";

export type Termination = NonNullable<ContainerState["terminated"]>;

/** What is known of a pod that this kubelet has taken on. Times are monotonic milliseconds, unless they are texts. */
export interface PodRun {
  readonly uid: string;
  /** The newest that is known of it: from the cache, or what the last write answered. */
  latest: DeepReadonly<Pod>;
  acceptedAtMs?: number;
  /** When it was taken on, as its status says. */
  startTime?: string;
  /** In order. Those that keep on running beside the others are sidecars. */
  readonly initContainers: readonly ContainerRun[];
  readonly containers: readonly ContainerRun[];
  /** Why no container is started any more, and how long they may take to end. */
  ending?: PodEnding;
}

export type PodEnding = {
  /** `completed`: only sidecars run. */
  readonly cause: "completed" | "deleted" | "deadlineExceeded" | "shutdown";
  readonly killAtMs: number;
};

export interface ContainerRun {
  readonly name: string;
  readonly isSidecar: boolean;
  state: ContainerStage;
  /** How often it was started again. */
  restarts: number;
  /** How the run before the present one, or before the wait for it, ended. */
  last?: Termination;
  backOff?: BackOff;
}

export type ContainerStage =
  | { readonly name: "created" }
  /** Cannot be started as things are. */
  | { readonly name: "refused"; readonly reason: string; readonly message: string; readonly retryAtMs: number }
  | {
      readonly name: "running";
      readonly startedAt: string;
      /** How far its end is. */
      readonly lastSignal: "nothing" | "SIGTERM" | "SIGKILL";
    }
  | { readonly name: "exited"; readonly termination: Termination; readonly exitedAtMs: number };

/** All containers of the pod. */
export function allContainers({ initContainers, containers }: PodRun): ContainerRun[] {
  return [...initContainers, ...containers];
}

/** Whether anything of the pod runs. */
export function isRunning(run: PodRun): boolean {
  return allContainers(run).some(({ state }) => state.name === "running");
}
