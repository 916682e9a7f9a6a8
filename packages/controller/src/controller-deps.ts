import type { Client } from "@kubewright/client";
import type { Clock, Logger, Random } from "@kubewright/clock";
import type { InformerFactory } from "@kubewright/informer";
import type { QueueMetricsProvider } from "@kubewright/workqueue";

import type { EventSink } from "./event-sink.js";

/**
 * Dependencies of every controller, passed in by the program that assembles it. A controller's options extend this
 * interface.
 */
export interface ControllerDeps {
  /** Sends the controller's requests. The client is responsible for User-Agent, rate limit and credentials. */
  readonly client: Client;
  readonly clock: Clock;
  /** Forked by name for every component that the controller creates. */
  readonly random: Random;
  /**
   * Shared caches. The program that assembles the controllers runs them, and stops them after the controllers. Default:
   * the controller creates caches of all namespaces and runs them itself.
   */
  readonly informers?: InformerFactory | undefined;
  /** Default: warnings and errors to standard error, the same line at most once a minute. */
  readonly logger?: Logger | undefined;
  /** Receives the controller's events. Default: the controller creates an event recorder and runs it itself. */
  readonly events?: EventSink | undefined;
  /**
   * Called with each error that a reconcile or an event handler throws, in addition to logging. Default: no callback.
   */
  readonly onFailure?: ((error: unknown) => void) | undefined;
  /** Records the metrics of the controller's queues (`workqueue_*`). Default: no metrics. */
  readonly queueMetrics?: QueueMetricsProvider | undefined;
  /** Milliseconds that work in progress may take to end after a stop; may be infinite. Default 30,000. */
  readonly stopTimeoutMs?: number | undefined;
}
