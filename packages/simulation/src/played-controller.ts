import type { OtherController } from "@kubewright/cluster";
import type { Runnable } from "@kubewright/controller";

/** A controller that is no part of Kubernetes: how it is made, or an operator of `@kubewright/operator`, or what runs like one. */
export type PlayedController = OtherController | OperatorLike;

/** What is run in what it is handed, as often as somebody wants. */
export interface OperatorLike {
  readonly name: string;
  readonly controllers: readonly unknown[];
  run(environment: OperatorEnvironment): Promise<void>;
}

/** What of an operator's environment there is here. */
export type OperatorEnvironment = Omit<Parameters<OtherController>[0], "client" | "informers" | "onFailure"> &
  Pick<Parameters<OtherController>[0], "onFailure"> & {
    readonly signal: AbortSignal;
    readonly leaderElection: false;
  };

/** How a cluster makes it. Of an operator there is one replica: it leads without being elected. */
export function otherController(controller: PlayedController): OtherController {
  if (typeof controller === "function") return controller;
  return ({ client: _client, informers: _informers, ...environment }): Runnable => ({
    name: controller.name,
    run: (signal) => controller.run({ ...environment, signal, leaderElection: false }),
  });
}
