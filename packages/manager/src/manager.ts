import { errorMessage } from "@kubewright/client";
import type { Clock, Logger } from "@kubewright/clock";
import type { ControllerDeps, Runnable } from "@kubewright/controller";
import type { InformerFactory } from "@kubewright/informer";

import type { ManagedContext, ManagedController } from "./managed-controller.js";
import { runUntilDrained } from "./run-until-drained.js";

export interface ManagerOptions<Context extends ManagedContext> {
  /** In the order in which they start. Their names must be unique. */
  readonly controllers: readonly ManagedController<Context>[];
  /** Caches that the controllers share. Each controller is built and run once for each, for example per namespace. */
  readonly caches: readonly InformerFactory[];
  readonly clock: Clock;
  readonly logger: Logger;
  /** Creates the dependencies of a controller, except its caches. */
  readonly depsFor: (
    controller: ManagedController<Context>,
    caches: InformerFactory,
  ) => ControllerDeps & Omit<Context, keyof ManagedContext>;
  /** Called with each controller that was built. Returns the runnable to run in its place. Default: the controller. */
  readonly onController?: (
    built: Runnable,
    controller: ManagedController<Context>,
    caches: InformerFactory,
  ) => Runnable;
  /** Runs beside the controllers, and stops after their last sync: for example event recorders. Default: none. */
  readonly support?: readonly Runnable[];
  /** How long all of it may take to stop, in milliseconds; 0: no limit. Default 0. */
  readonly stopTimeoutMs?: number;
}

/** Logs that a controller cannot be built, and returns the error that ends the manager. */
export function initializationError(name: string, error: unknown, logger: Logger): Error {
  logger.error({ controller: name, err: errorMessage(error) }, "Error initializing a controller");
  return new Error(`Error building controllers: ${name}: ${errorMessage(error)}`, { cause: error });
}

/**
 * Controllers as one process without shards. All controllers are built before the first one starts. They stop first;
 * their caches and support stop after the last sync.
 */
export class Manager<Context extends ManagedContext> implements Runnable {
  readonly name = "manager";
  readonly #options: ManagerOptions<Context>;
  readonly #controllers: readonly Runnable[];

  /** @throws Error that names the controller that cannot be built. */
  constructor(options: ManagerOptions<Context>) {
    const { controllers, caches, depsFor, onController = (built) => built } = options;
    this.#options = options;
    this.#controllers = controllers.flatMap((controller) =>
      caches.map((informers) => {
        try {
          const context = { ...depsFor(controller, informers), informers } as unknown as Context;
          return onController(controller.build(context), controller, informers);
        } catch (error) {
          throw initializationError(controller.name, error, options.logger);
        }
      }),
    );
  }

  /**
   * Works until the signal aborts and the last sync has ended.
   *
   * @throws Error when a controller fails, or stopping takes longer than the timeout.
   */
  run(signal: AbortSignal): Promise<void> {
    const { caches, clock, logger, support = [], stopTimeoutMs: timeoutMs = 0 } = this.#options;
    return runUntilDrained(
      { controllers: this.#controllers, support: [...caches, ...support], timeoutMs, clock, logger },
      signal,
    );
  }
}
