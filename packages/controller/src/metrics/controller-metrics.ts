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
 * Kubernetes' metrics of what controllers are made of, in one prom-client registry: make one per registry and hand its
 * parts to queues, electors and clients. A controller's own metrics are made by {@link counter}, {@link gauge} and
 * {@link histogram} of the same object.
 *
 * Names, help texts, labels and buckets are upstream's; the text differs in two ways: a family nobody has used yet is
 * listed without series, and bucket bounds below a millionth are written `1e-8`, not `1e-08`.
 *
 * @throws Error from the constructor when the registry holds these metrics already.
 */
export class ControllerMetrics extends MetricFamilies {
  /** `workqueue_*`: the `metrics` of a queue, the `queueMetrics` of a controller. */
  readonly queues: QueueMetricsProvider;
  /** `informer_*`: the `metrics` of an `InformerFactory` that has an `informerName`. */
  readonly informers: InformerMetricsProvider;
  /** `leader_election_*`: the `metrics` of a `LeaderElector`. */
  readonly leaderElection: LeaderElectionMetrics;
  readonly #restClient: (host: string) => RequestMetrics;

  constructor(options: MetricFamiliesOptions) {
    super(options);
    this.queues = queueMetrics(this);
    this.informers = informerMetrics(this);
    this.leaderElection = leaderElectionMetrics(this);
    this.#restClient = restClientMetrics(this);
  }

  /** `rest_client_*`: the `metrics` of a `Client`. @param host - The server's `host:port`. Default `none`: not known. */
  restClient(host = "none"): RequestMetrics {
    return this.#restClient(host);
  }
}
