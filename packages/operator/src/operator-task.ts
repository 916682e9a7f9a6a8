import type { Clock, Logger, Random } from "@kubewright/clock";

import type { Cache } from "./cache.js";
import type { OperatorClient } from "./operator-client.js";

/** What a task is handed. */
export interface TaskScope<Metrics> {
  readonly client: OperatorClient;
  readonly cache: Cache;
  readonly log: Logger;
  readonly metrics: Metrics;
  readonly clock: Clock;
  readonly random: Random;
  /** The namespace that the operator runs in. */
  readonly namespace: string;
  /** Tells it to stop: it then ends what it has begun, and resolves. */
  readonly signal: AbortSignal;
}

/**
 * Work that no object asks for, such as something done every so often. It may end early; if it rejects, the operator stops.
 *
 * @see controller-runtime pkg/manager Runnable, LeaderElectionRunnable
 */
export interface OperatorTask<Metrics = undefined> {
  readonly name: string;
  /**
   * Begin at once, before caches are filled, and go on while standing by, in every replica: its writes are not fenced.
   * Default false.
   */
  readonly whileStandingBy?: boolean;
  readonly run: (scope: TaskScope<Metrics>) => Promise<void>;
}
