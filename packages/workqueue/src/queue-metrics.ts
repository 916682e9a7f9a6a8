import { type Clock, type Timer, standardErrorLogger } from "@kubewright/clock";

/**
 * Records the measurements of one queue. Durations are in seconds, like the metrics. Errors it throws are reported to
 * standard error, and the queue continues.
 */
export interface QueueMetrics {
  /** `workqueue_depth`: items to be processed, including items added again while in processing. */
  setDepth(items: number): void;
  /** `workqueue_adds_total` */
  countAdd(): void;
  /** `workqueue_queue_duration_seconds` */
  observeQueueDuration(seconds: number): void;
  /** `workqueue_work_duration_seconds` */
  observeWorkDuration(seconds: number): void;
  /** `workqueue_unfinished_work_seconds` */
  setUnfinishedWork(seconds: number): void;
  /** `workqueue_longest_running_processor_seconds` */
  setLongestRunningProcessor(seconds: number): void;
  /** `workqueue_retries_total` */
  countRetry(): void;
}

/** Creates the metrics of queues, one set per queue name. */
export interface QueueMetricsProvider {
  forQueue(name: string): QueueMetrics;
}

/** Definition of a metric, for its registration. All metrics have the single label `name`. */
export interface QueueMetricDefinition {
  readonly type: "counter" | "gauge" | "histogram";
  readonly name: string;
  readonly help: string;
  readonly buckets?: readonly number[];
}

/** Ten buckets growing tenfold from 10 ns, rounded as Go's multiplication rounds them. */
const BUCKETS = [1e-8, 1e-7, 1e-6, 9.999999999999999e-6, 9.999999999999999e-5, 0.001, 0.01, 0.1, 1, 10];

/** Names, help texts and buckets of the upstream metrics (component-base metrics/prometheus/workqueue). */
export const queueMetricDefinitions = {
  depth: { type: "gauge", name: "workqueue_depth", help: "Current depth of workqueue" },
  adds: { type: "counter", name: "workqueue_adds_total", help: "Total number of adds handled by workqueue" },
  queueDuration: {
    type: "histogram",
    name: "workqueue_queue_duration_seconds",
    help: "How long in seconds an item stays in workqueue before being requested.",
    buckets: BUCKETS,
  },
  workDuration: {
    type: "histogram",
    name: "workqueue_work_duration_seconds",
    help: "How long in seconds processing an item from workqueue takes.",
    buckets: BUCKETS,
  },
  unfinishedWork: {
    type: "gauge",
    name: "workqueue_unfinished_work_seconds",
    help:
      "How many seconds of work has done that is in progress and hasn't been observed by work_duration. Large values indicate stuck threads. " +
      "One can deduce the number of stuck threads by observing the rate at which this increases.",
  },
  longestRunningProcessor: {
    type: "gauge",
    name: "workqueue_longest_running_processor_seconds",
    help: "How many seconds has the longest running processor for workqueue been running.",
  },
  retries: { type: "counter", name: "workqueue_retries_total", help: "Total number of retries handled by workqueue" },
} as const satisfies Record<string, QueueMetricDefinition>;

const AGE_INTERVAL_MS = 500;

/**
 * Records the timestamps that a queue's metrics need.
 *
 * The two age gauges are refreshed every 500 ms while items are in processing, and once afterwards. Upstream's ticker
 * also runs while the gauges cannot change, which would keep a simulation running for nothing.
 *
 * @see kubernetes v1.36 client-go util/workqueue/metrics.go
 */
export class QueueRecorder<T> {
  readonly #clock: Clock;
  readonly #metrics: QueueMetrics;
  readonly #addedAtMs = new Map<T, number>();
  readonly #gotAtMs = new Map<T, number>();
  #timer: Timer | undefined;
  #stopped = false;

  constructor(clock: Clock, metrics: QueueMetrics) {
    this.#clock = clock;
    const logger = standardErrorLogger(clock, "workqueue");
    this.#metrics = withErrorsReported(metrics, (error) =>
      logger.error({ err: String(error) }, "Measuring a queue failed"),
    );
  }

  added(item: T): void {
    this.#addedAtMs.set(item, this.#clock.monotonic());
    this.#metrics.countAdd();
    this.#metrics.setDepth(this.#addedAtMs.size);
  }

  got(item: T): void {
    const nowMs = this.#clock.monotonic();
    const addedAtMs = this.#addedAtMs.get(item);
    this.#addedAtMs.delete(item);
    this.#metrics.setDepth(this.#addedAtMs.size);
    if (addedAtMs !== undefined) this.#metrics.observeQueueDuration((nowMs - addedAtMs) / 1000);
    this.#gotAtMs.set(item, nowMs);
    if (this.#timer === undefined && !this.#stopped) this.#arm();
  }

  done(item: T): void {
    const gotAtMs = this.#gotAtMs.get(item);
    if (gotAtMs === undefined) return;
    this.#gotAtMs.delete(item);
    this.#metrics.observeWorkDuration((this.#clock.monotonic() - gotAtMs) / 1000);
  }

  retried(): void {
    this.#metrics.countRetry();
  }

  /** Stops the refresh. The age gauges keep their last values, as upstream. */
  stop(): void {
    this.#stopped = true;
    this.#timer?.cancel();
    this.#timer = undefined;
  }

  #arm(): void {
    this.#timer = this.#clock.setTimer(AGE_INTERVAL_MS, () => this.#refreshAges(), { background: true });
  }

  #refreshAges(): void {
    const nowMs = this.#clock.monotonic();
    let totalMs = 0;
    let longestMs = 0;
    for (const gotAtMs of this.#gotAtMs.values()) {
      totalMs += nowMs - gotAtMs;
      longestMs = Math.max(longestMs, nowMs - gotAtMs);
    }
    this.#metrics.setUnfinishedWork(totalMs / 1000);
    this.#metrics.setLongestRunningProcessor(longestMs / 1000);
    this.#timer = undefined;
    if (this.#gotAtMs.size > 0) this.#arm();
  }
}

/** Wraps metrics so that their errors are reported and the queue continues. */
function withErrorsReported(metrics: QueueMetrics, report: (error: unknown) => void): QueueMetrics {
  const guard = (measure: () => void): void => {
    try {
      measure();
    } catch (error) {
      report(error);
    }
  };
  return {
    setDepth: (items) => guard(() => metrics.setDepth(items)),
    countAdd: () => guard(() => metrics.countAdd()),
    observeQueueDuration: (seconds) => guard(() => metrics.observeQueueDuration(seconds)),
    observeWorkDuration: (seconds) => guard(() => metrics.observeWorkDuration(seconds)),
    setUnfinishedWork: (seconds) => guard(() => metrics.setUnfinishedWork(seconds)),
    setLongestRunningProcessor: (seconds) => guard(() => metrics.setLongestRunningProcessor(seconds)),
    countRetry: () => guard(() => metrics.countRetry()),
  };
}
