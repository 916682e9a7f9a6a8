import type { Clock, Logger, Random } from "@kubewright/clock";

import type { Cache } from "./cache.js";
import type { OperatorClient } from "./operator-client.js";

/** Arguments of a task. */
export interface TaskScope<Metrics> {
  readonly client: OperatorClient;
  readonly cache: Cache;
  readonly log: Logger;
  readonly metrics: Metrics;
  readonly clock: Clock;
  readonly random: Random;
  /** The namespace that the operator runs in. */
  readonly namespace: string;
  /** Aborts on shutdown: the task then finishes its work in flight and resolves. */
  readonly signal: AbortSignal;
}

/**
 * Work that is not triggered by an object, such as a periodic action. It may end early. If it rejects, the operator
 * stops.
 *
 * @see controller-runtime pkg/manager Runnable, LeaderElectionRunnable
 */
export interface OperatorTask<Metrics = undefined> {
  readonly name: string;
  /**
   * Start immediately, before caches are filled, and run in every replica, standbys included. Its writes are not
   * fenced. Default false.
   */
  readonly whileStandingBy?: boolean;
  readonly run: (scope: TaskScope<Metrics>) => Promise<void>;
}
