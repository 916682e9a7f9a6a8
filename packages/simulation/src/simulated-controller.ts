import type { OtherController, OtherEnvironment } from "@kubewright/cluster";
import type { Runnable } from "@kubewright/controller";

/**
 * A controller that is not part of Kubernetes: a factory function, an operator of `@kubewright/operator`, or an object
 * with the same interface.
 */
export type SimulatedController = OtherController | SimulatedOperator;

/** A controller that runs in an environment that it is passed; it may be run more than once. */
export interface SimulatedOperator {
  readonly name: string;
  readonly controllers: readonly unknown[];
  run(environment: SimulatedEnvironment): Promise<void>;
}

/** Environment of an operator in a simulation. */
export interface SimulatedEnvironment extends Omit<OtherEnvironment, "client" | "informers"> {
  readonly signal: AbortSignal;
  /** An operator has one replica, which leads without an election. */
  readonly leaderElection: false;
}

/** Converts a simulated controller to the cluster's factory function. */
export function toOtherController(controller: SimulatedController): OtherController {
  if (typeof controller === "function") return controller;
  return ({ client: _client, informers: _informers, ...environment }): Runnable => ({
    name: controller.name,
    run: (signal) => controller.run({ ...environment, signal, leaderElection: false }),
  });
}
