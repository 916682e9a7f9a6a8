import type { ControllerDeps, Runnable } from "@kubewright/controller";

import type { BucketRun, ManagedContext, ManagedController, WorkSharing } from "../managed-controller.js";

/** What identifies a controller to other programs, and how replicas share its work. */
export interface ControllerDescription {
  /** Last part of its User-Agent, and name of its ServiceAccount. Default: the controller's name. */
  readonly clientName?: string;
  /** Factor of its client's rate limit. Default 1. */
  readonly requestsPerAction?: number;
  readonly sharing: WorkSharing;
}

/** What a controller is built from: dependencies, its own options, and the receiver of its decisions. */
export type BuildOptions<Options extends ControllerDeps> = Omit<Options, "informers"> &
  Pick<ManagedContext, "informers">;

export interface KubernetesDefinition<Options extends ControllerDeps> extends ControllerDescription {
  /** State that the buckets of one manager share is created once in each call. */
  readonly start: () => Pick<ManagedController, "annotations"> & {
    readonly build: (options: BuildOptions<Options>, bucket: BucketRun | undefined) => Runnable;
    readonly buildClusterWide?: (options: BuildOptions<Options>, bucket: BucketRun) => Runnable;
  };
}

/** Defines a controller that is built from its options. */
export function define<Options extends ControllerDeps>(
  description: ControllerDescription,
  build: (options: BuildOptions<Options>, bucket: BucketRun | undefined) => Runnable,
): KubernetesDefinition<Options> {
  return { ...description, start: () => ({ build }) };
}
