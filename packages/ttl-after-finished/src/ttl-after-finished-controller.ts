import { type DeepReadonly, type Job, type ObjectKey, jobs, keyOf } from "@kubewright/api";
import type { Client } from "@kubewright/client";
import { type Clock, type Random, standardErrorLogger } from "@kubewright/clock";
import { type Logger, ReconcileLoop, type Runnable } from "@kubewright/controller";
import type { InformerFactory } from "@kubewright/informer";
import { type QueueMetricsProvider, RateLimitingQueue, defaultControllerRateLimiter } from "@kubewright/workqueue";

import type { TTLDecision } from "./decision.js";
import { type SyncDeps, syncJob } from "./sync-job.js";
import { needsCleanup } from "./time-left.js";

export interface TTLAfterFinishedControllerOptions {
  readonly client: Client;
  readonly clock: Clock;
  /** Taken for the sake of uniformity; nothing here is random. */
  readonly random?: Random;
  /** Run by whoever assembles the controllers, not by this one. */
  readonly informers: InformerFactory;
  /** Jobs looked at at once. Default 5. */
  readonly workers?: number;
  /** How long syncs under way may take to end when it is stopped, in milliseconds; may be infinite. Default 30,000. */
  readonly stopTimeoutMs?: number | undefined;
  /** Default: standard error, for warnings and errors. */
  readonly logger?: Logger;
  readonly metrics?: TTLAfterFinishedMetrics | undefined;
  readonly queueMetrics?: QueueMetricsProvider | undefined;
  /** Told of every finished Job with a time to live that was looked at. */
  readonly onDecision?: (decision: TTLDecision) => void;
}

export interface TTLAfterFinishedMetrics {
  /**
   * `ttl_after_finished_controller_job_deletion_duration_seconds`: seconds from the end of a Job's time to its deletion.
   * Upstream's buckets are 0.1, 0.2, 0.4 … 819.2.
   */
  jobDeletionDuration(seconds: number): void;
}

/**
 * Deletes finished Jobs `ttlSecondsAfterFinished` after their end, in the foreground: a garbage collector has to remove
 * their pods before they are gone.
 *
 * A timer per Job fires exactly when its time is over. A time to live that changes while it runs is looked up again then.
 *
 * @see kubernetes v1.36 pkg/controller/ttlafterfinished/ttlafterfinished_controller.go Controller
 */
export class TTLAfterFinishedController implements Runnable {
  readonly name = "ttl-after-finished-controller";
  readonly #logger: Logger;
  readonly #loop: ReconcileLoop;

  constructor(options: TTLAfterFinishedControllerOptions) {
    const { client, clock, informers, workers = 5, queueMetrics, metrics } = options;
    const logger = options.logger ?? standardErrorLogger(clock, this.name);
    this.#logger = logger;
    const informer = informers.informerFor(jobs);
    const queue = new RateLimitingQueue<ObjectKey>({
      clock,
      name: "ttl_jobs_to_delete",
      rateLimiter: defaultControllerRateLimiter<ObjectKey>({ clock }),
      metrics: queueMetrics,
    });
    const deps: SyncDeps = {
      cache: informer.store,
      jobs: client.resource(jobs),
      logger,
      now: () => clock.now(),
      decided: (decision) => options.onDecision?.(decision),
      observeDeletion: (seconds) => metrics?.jobDeletionDuration(seconds),
    };
    this.#loop = new ReconcileLoop({
      name: this.name,
      queue,
      reconcile: (key, signal) => syncJob(key, deps, signal),
      workers,
      clock,
      logger,
      stopTimeoutMs: options.stopTimeoutMs,
      waitForSync: (signal) => informer.waitForSync(signal),
      describeError: "Error cleaning up Job, will retry",
    });
    const enqueue = (job: DeepReadonly<Job>): void => {
      if (!job.metadata.deletionTimestamp && needsCleanup(job)) queue.add(keyOf(job));
    };
    informer.addEventHandler({ onAdd: enqueue, onUpdate: (_old, job) => enqueue(job) });
  }

  async run(signal: AbortSignal): Promise<void> {
    this.#logger.info({}, "Starting TTL after finished controller");
    await this.#loop.run(signal);
    this.#logger.info({}, "Shutting down TTL after finished controller");
  }
}
