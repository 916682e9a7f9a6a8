import type { Client } from "@kubewright/client";
import type { Clock, Logger, Random } from "@kubewright/clock";
import type { ControllerMetrics } from "@kubewright/controller/metrics";

import type { Cache } from "./cache.js";
import type { Caches } from "./caches.js";
import type { ReconcileMetrics } from "./reconcile-metrics.js";
import type { Tracer } from "./tracing.js";

/** What a controller is made of when its operator runs. */
export interface ControllerContext {
  readonly operator: string;
  /** Fenced: refuses to write when this process may not. */
  readonly client: Client;
  /** For what every replica does, whoever leads. */
  readonly unfenced: Client;
  /** That this process runs in. */
  readonly namespace: string;
  readonly caches: Caches;
  readonly cache: Cache;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly controllerMetrics: ControllerMetrics;
  readonly reconciles: (controller: string, workers: number) => ReconcileMetrics;
  /** What the operator's own `metrics` made. */
  readonly metrics: unknown;
  readonly tracer: Tracer | undefined;
  /** Told of what reconciles fail with, as it was thrown. */
  readonly onFailure?: ((error: unknown) => void) | undefined;
  readonly stopTimeoutMs: number;
}
