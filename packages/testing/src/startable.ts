import type { Client } from "@kubewright/client";
import type { Clock, Logger, Random } from "@kubewright/clock";
import type { Runnable } from "@kubewright/controller";
import type { Transport } from "@kubewright/transport";

/** What controllers of a test are made of: what `ControllerDeps` of `@kubewright/controller` cannot do without, and a logger. */
export interface TestDeps {
  readonly client: Client;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
}

/** Makes a controller of what it is handed. */
export type ControllerFactory = (deps: TestDeps) => Runnable;

/** What an operator runs in. */
export interface TestEnvironment extends Omit<TestDeps, "client"> {
  readonly transport: Transport;
  readonly signal: AbortSignal;
  /** The name it is run under: tells it from its other replicas. */
  readonly identity: string;
}

/** An operator of `@kubewright/operator`, or what runs like one. */
export interface OperatorLike<Environment> {
  readonly name: string;
  readonly controllers: readonly unknown[];
  run(environment: Environment): Promise<void>;
}

/** Runs any of them in what it is handed. @param more - In place of, or beside, what an operator is handed. */
export function runIn<Environment>(
  what: ControllerFactory | Runnable | OperatorLike<Environment>,
  { transport, client, signal, identity, ...shared }: TestDeps & TestEnvironment,
  more: Partial<Environment> = {},
): Promise<void> {
  if (typeof what === "function") return what({ ...shared, client }).run(signal);
  if (!isOperator(what)) return what.run(signal);
  const environment: TestEnvironment = { ...shared, transport, signal, identity };
  return what.run({ ...environment, ...more } as Environment);
}

function isOperator<Environment>(what: Runnable | OperatorLike<Environment>): what is OperatorLike<Environment> {
  return "controllers" in what;
}
