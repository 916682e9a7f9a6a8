import type { RequestMetrics } from "@kubewright/client";
import type { InformerMetricsProvider } from "@kubewright/informer";
import type { QueueMetricsProvider } from "@kubewright/workqueue";

import type { LeaderElectionMetrics } from "../leader-elector.js";
import { informerMetrics } from "./informer-metrics.js";
import { leaderElectionMetrics } from "./leader-election-metrics.js";
import { MetricFamilies, type MetricFamiliesOptions } from "./metric-families.js";
import { queueMetrics } from "./queue-metrics.js";
import { restClientMetrics } from "./rest-client-metrics.js";

/**
 * Kubernetes' metrics of controllers in one prom-client registry. Create one instance per registry, and pass its
 * members to queues, electors and clients. Use {@link counter}, {@link gauge} and {@link histogram} of the same
 * instance for a controller's own metrics.
 *
 * Names, help texts, labels and buckets are upstream's. The text format differs in two ways:
 *
 * - A family without samples is listed without series.
 * - Bucket bounds below a millionth are written `1e-8`, not `1e-08`.
 *
 * @throws Error from the constructor when the registry already contains these metrics.
 */
export class ControllerMetrics extends MetricFamilies {
  /** `workqueue_*`: for the `metrics` of a queue and the `queueMetrics` of a controller. */
  readonly queues: QueueMetricsProvider;
  /** `informer_*`: for the `metrics` of an `InformerFactory` with an `informerName`. */
  readonly informers: InformerMetricsProvider;
  /** `leader_election_*`: for the `metrics` of a `LeaderElector`. */
  readonly leaderElection: LeaderElectionMetrics;
  readonly #restClient: (host: string) => RequestMetrics;

  constructor(options: MetricFamiliesOptions) {
    super(options);
    this.queues = queueMetrics(this);
    this.informers = informerMetrics(this);
    this.leaderElection = leaderElectionMetrics(this);
    this.#restClient = restClientMetrics(this);
  }

  /**
   * `rest_client_*`: for the `metrics` of a `Client`. @param host - The server's `host:port`. Default `none`: unknown.
   */
  restClient(host = "none"): RequestMetrics {
    return this.#restClient(host);
  }
}
