import type { Client } from "@kubewright/client";
import type { Clock, Logger, Random } from "@kubewright/clock";
import type { InformerFactory } from "@kubewright/informer";
import type { QueueMetricsProvider } from "@kubewright/workqueue";

import type { EventSink } from "./event-sink.js";

/** What every controller is handed by whoever assembles it, as one object: the options of a controller are these and its own. */
export interface ControllerDeps {
  /** Sends its requests. User-Agent, rate limit and credentials are the client's affair. */
  readonly client: Client;
  readonly clock: Clock;
  /** Forked by name for everything that is made of it. */
  readonly random: Random;
  /**
   * Caches that are shared with others, run by whoever assembles the controllers and for longer than these. Default: caches
   * of its own, of all namespaces, which are run with the controller.
   */
  readonly informers?: InformerFactory | undefined;
  /** Default: standard error, for warnings and errors, the same line once a minute. */
  readonly logger?: Logger | undefined;
  /** Where its events go. Default: an event recorder of its own, which is run with the controller. */
  readonly events?: EventSink | undefined;
  /** Told of what its work and its handlers fail with, as it was thrown, beside what is logged. Default: nobody is. */
  readonly onFailure?: ((error: unknown) => void) | undefined;
  /** Measures its queues (`workqueue_*`). Default: nothing is measured. */
  readonly queueMetrics?: QueueMetricsProvider | undefined;
  /** How long work under way may take to end when it is stopped, in milliseconds; may be infinite. Default 30,000. */
  readonly stopTimeoutMs?: number | undefined;
}
