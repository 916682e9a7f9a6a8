import type { Client } from "@kubewright/client";
import type { Clock, Logger, Random } from "@kubewright/clock";
import type { RenewalDeferral, Runnable } from "@kubewright/controller";
import type { Transport } from "@kubewright/transport";

import type { OperatorWebhooksLike } from "./served-webhooks.js";

/**
 * Dependencies of controllers in tests: the required fields of `ControllerDeps` of `@kubewright/controller`, and a
 * logger.
 */
export interface TestDeps {
  readonly client: Client;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
}

/** Creates a controller from its dependencies. */
export type ControllerFactory = (deps: TestDeps) => Runnable;

/** Environment of an operator. */
export interface TestEnvironment extends Omit<TestDeps, "client"> {
  readonly transport: Transport;
  readonly signal: AbortSignal;
  /** The name it runs under. Distinguishes its replicas. */
  readonly identity: string;
  /**
   * For a `LeaderElector` with this clock and transport. Only in process: leader election then costs little. Omitted if
   * the test replaces the clock or the transport.
   */
  readonly renewalDeferral?: RenewalDeferral | undefined;
}

/** An operator of `@kubewright/operator`, or an object with the same interface. */
export interface OperatorLike<Environment> {
  readonly name: string;
  readonly controllers: readonly unknown[];
  readonly webhooks?: OperatorWebhooksLike;
  run(environment: Environment): Promise<void>;
}

/**
 * Runs a controller, a runnable or an operator with its dependencies. @param more - Overrides and additions to an
 * operator's environment.
 */
export function runIn<Environment>(
  what: ControllerFactory | Runnable | OperatorLike<Environment>,
  { transport, client, signal, identity, renewalDeferral, ...shared }: TestDeps & TestEnvironment,
  more: Partial<Environment> = {},
): Promise<void> {
  if (typeof what === "function") return what({ ...shared, client }).run(signal);
  if (!isOperator(what)) return what.run(signal);
  const canDefer = renewalDeferral !== undefined && !("clock" in more) && !("transport" in more);
  const environment: TestEnvironment = {
    ...shared,
    transport,
    signal,
    identity,
    ...(canDefer ? { renewalDeferral } : {}),
  };
  return what.run({ ...environment, ...more } as Environment);
}

/**
 * Returns the webhooks of an operator.
 *
 * @throws Error when it is no operator, or has none.
 */
export function webhooksOf(
  what: ControllerFactory | Runnable | OperatorLike<never>,
  name: string,
): OperatorWebhooksLike {
  const webhooks = typeof what === "function" || !isOperator(what) ? undefined : what.webhooks;
  if (webhooks === undefined || webhooks.isEmpty)
    throw new Error(`${name} has no webhooks to serve: declare them with createOperator({ webhooks: […] })`);
  return webhooks;
}

function isOperator<Environment>(what: Runnable | OperatorLike<Environment>): what is OperatorLike<Environment> {
  return "controllers" in what;
}
