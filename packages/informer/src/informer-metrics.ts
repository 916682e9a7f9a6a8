import type { ResourceDefinition } from "@kubewright/api";

/** Records the measurements of one informer. */
export interface InformerMetrics {
  /** `informer_queued_items`: always 0, because there is no queue between watch and cache. */
  setQueuedItems(items: number): void;
  /**
   * `informer_processing_latency_seconds`: the time to apply one change, or one whole list, and to call all handlers.
   */
  observeProcessingLatency(seconds: number): void;
  /** `informer_store_resource_version`: the last 15 digits, which a number holds exactly. */
  setStoreResourceVersion(version: number): void;
  /**
   * `kubewright_shard_foreign_events_total`: number of objects of other shards that arrived. Called with 0 at the start
   * if the informer has a shard.
   */
  countForeignObjects?(count: number): void;
}

/** The labels of an informer's metrics: its name and its resource. */
export interface InformerLabels extends Pick<ResourceDefinition, "group" | "version" | "resource"> {
  readonly name: string;
}

/** Creates the metrics of informers, one set per name and resource. */
export interface InformerMetricsProvider {
  forInformer(labels: InformerLabels): InformerMetrics;
}

/**
 * Definition of a metric, for its registration. All metrics have the labels `name`, `group`, `version` and `resource`.
 */
export interface InformerMetricDefinition {
  readonly type: "gauge" | "histogram" | "counter";
  readonly name: string;
  readonly help: string;
  readonly buckets?: readonly number[];
}

/** Names, help texts and buckets of the upstream metrics, all ALPHA (component-base metrics/prometheus/informers). */
export const informerMetricDefinitions = {
  queuedItems: {
    type: "gauge",
    name: "informer_queued_items",
    help: "Number of items currently queued in the FIFO.",
  },
  processingLatency: {
    type: "histogram",
    name: "informer_processing_latency_seconds",
    help: "Time taken to process events after popping from the queue.",
    buckets: [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
  },
  storeResourceVersion: {
    type: "gauge",
    name: "informer_store_resource_version",
    help: "The 15 least significant digits of the resource version of the store.",
  },
} as const satisfies Record<string, InformerMetricDefinition>;

/**
 * Counts objects that the server should have filtered out. More than 0 means that the server does not filter by shard.
 */
export const foreignObjectsDefinition = {
  type: "counter",
  name: "kubewright_shard_foreign_events_total",
  help: "Number of objects of other shards that the server listed or sent in watch events.",
} as const satisfies InformerMetricDefinition;

/** Returns the gauge's value; `NaN` for a version that is not a decimal number, which is not reported. */
export function versionGauge(resourceVersion: string): number {
  return /^[0-9]+$/.test(resourceVersion) ? Number(resourceVersion.slice(-15)) : Number.NaN;
}
