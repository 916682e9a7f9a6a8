import type { OtherController, OtherEnvironment } from "@kubewright/cluster";
import type { Runnable } from "@kubewright/controller";

/** A controller that is no part of Kubernetes: how it is made, or an operator of `@kubewright/operator`, or what runs like one. */
export type SimulatedController = OtherController | OperatorLike;

/** What is run in what it is handed, as often as somebody wants. */
export interface OperatorLike {
  readonly name: string;
  readonly controllers: readonly unknown[];
  run(environment: SimulatedEnvironment): Promise<void>;
}

/** What an operator is handed here. */
export interface SimulatedEnvironment extends Omit<OtherEnvironment, "client" | "informers"> {
  readonly signal: AbortSignal;
  /** Of an operator there is one replica: it leads without being elected. */
  readonly leaderElection: false;
}

/** How a cluster makes it. */
export function toOtherController(controller: SimulatedController): OtherController {
  if (typeof controller === "function") return controller;
  return ({ client: _client, informers: _informers, ...environment }): Runnable => ({
    name: controller.name,
    run: (signal) => controller.run({ ...environment, signal, leaderElection: false }),
  });
}
