import type { Client } from "@kubewright/client";
import type { Clock, Logger, Random } from "@kubewright/clock";
import type { EventRecorderOptions, EventSink, Runnable } from "@kubewright/controller";
import type { ControllerMetrics } from "@kubewright/controller/metrics";

import type { Cache } from "./cache.js";
import type { Caches } from "./caches.js";
import type { ReconcileMetrics } from "./reconcile-metrics.js";
import type { Tracer } from "./tracing.js";

/** Dependencies of a controller in one run of its operator. */
export interface ControllerContext {
  readonly operator: string;
  /** Rejects writes when this process may not write. */
  readonly client: Client;
  /** Not fenced: for tasks that every replica runs, leader or not. */
  readonly unfenced: Client;
  /** The namespace that this process runs in. */
  readonly namespace: string;
  readonly caches: Caches;
  readonly cache: Cache;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly controllerMetrics: ControllerMetrics;
  readonly reconciles: (controller: string, workers: number) => ReconcileMetrics;
  /** Return value of the operator's own `metrics` function. */
  readonly metrics: unknown;
  readonly tracer: Tracer | undefined;
  /** Called with every error of a reconcile, as it was thrown. */
  readonly onFailure?: ((error: unknown) => void) | undefined;
  /** Whether the controller works for some of the namespaces only. Default false. */
  readonly isShared?: boolean | undefined;
  readonly stopTimeoutMs: number;
  /** Creates a recorder of the operator's events, for the caller to run. */
  readonly eventRecorder: (options: Pick<EventRecorderOptions, "client" | "random" | "logger">) => EventSink & Runnable;
}
