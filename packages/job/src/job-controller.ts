import {
  type Job,
  type ObjectKey,
  type Pod,
  type VersionBehaviours,
  getControllerOf,
  isJobFinished,
  jobs,
  pods,
} from "@kubewright/api";
import type { Client } from "@kubewright/client";
import { type Clock, type Random, standardErrorLogger } from "@kubewright/clock";
import {
  EventRecorder,
  type EventSink,
  type Logger,
  PodControl,
  ReconcileLoop,
  type Runnable,
  runInStages,
} from "@kubewright/controller";
import type { InformerFactory, SharedInformer } from "@kubewright/informer";
import { ItemExponentialFailureRateLimiter, type QueueMetricsProvider, RateLimitingQueue } from "@kubewright/workqueue";

import { jobEventHandler, podEventHandler } from "./event-handlers.js";
import type { JobLimits } from "./job-limits.js";
import { JobMemory } from "./job-memory.js";
import { type JobMetrics, noJobMetrics } from "./job-metrics.js";
import { jobPodsIndex, jobPodsIndexValues } from "./job-pods-index.js";
import type { PodObject } from "./job-spec.js";
import { syncOrphanPods, trackedPodsIndex, trackedPodsIndexValues } from "./orphan-pods.js";
import { resolveJobKey } from "./resolve-job.js";
import { AdaptiveBatches, FixedBatches, SYNC_BATCH_PERIOD_MS, type SyncBatches } from "./sync-batches.js";
import type { JobDecision } from "./job-decision.js";
import type { JobSyncDeps } from "./sync-deps.js";
import { syncJob } from "./sync-job.js";
import { terminatedPodCounter } from "./terminated-pods.js";
import { UnfinishedPods } from "./unfinished-pods.js";

export interface JobControllerOptions {
  readonly client: Client;
  readonly clock: Clock;
  readonly random: Random;
  /** Run by whoever assembles the controllers, not by this one. */
  readonly informers: InformerFactory;
  /** Jobs synced at once, and orphan pods looked at at once; at least 1. Default 5. */
  readonly workers?: number;
  /** How long syncs under way may take to end when it is stopped, in milliseconds; may be infinite. Default 30,000. */
  readonly stopTimeoutMs?: number | undefined;
  /** Default: standard error, for warnings and errors. */
  readonly logger?: Logger;
  /** Default: an event recorder of its own, as component `job-controller`. */
  readonly events?: EventSink;
  /**
   * How long events of pods and status writes are gathered before their Job is synced, in milliseconds: upstream's is
   * 1000. Default: adaptive, which is 1000 at most, and less when nothing more is to be gathered.
   */
  readonly syncBatchPeriodMs?: number;
  /** The most of the adaptive period, in milliseconds. Default 1000. */
  readonly maxSyncBatchPeriodMs?: number;
  /** Constants upstream. Default: upstream's. */
  readonly limits?: JobLimits;
  /** Which release's controller it is like. Default: the newest one's. */
  readonly behaviours?: VersionBehaviours | undefined;
  /**
   * Handle exactly the Jobs whose `spec.managedBy` is this. Default: those without `managedBy`, or with
   * `kubernetes.io/job-controller`.
   */
  readonly managedBy?: string | undefined;
  /** Told after every sync that had something to decide. */
  readonly onDecision?: (decision: JobDecision) => void;
  readonly metrics?: JobMetrics | undefined;
  readonly queueMetrics?: QueueMetricsProvider | undefined;
}

const NAME = "job-controller";
const RETRY_BASE_MS = 1_000;
const RETRY_MAX_MS = 60_000;

/**
 * Brings about what Jobs ask for: creates and deletes their pods, accounts for each ended one exactly once, and declares
 * Jobs finished.
 *
 * Upstream: pkg/controller/job/job_controller.go.
 */
export class JobController implements Runnable {
  readonly name = NAME;
  readonly #loops: readonly Runnable[];
  readonly #recorder: EventRecorder | undefined;
  readonly #batches: SyncBatches;
  readonly #logger: Logger;

  constructor(options: JobControllerOptions) {
    const {
      client,
      clock,
      random,
      informers,
      workers = 5,
      logger = standardErrorLogger(clock, NAME),
      stopTimeoutMs,
      syncBatchPeriodMs,
      maxSyncBatchPeriodMs = SYNC_BATCH_PERIOD_MS,
      limits,
      behaviours,
      managedBy,
      onDecision,
      metrics = noJobMetrics,
      queueMetrics,
    } = options;
    this.#logger = logger;
    this.#recorder =
      options.events === undefined ? new EventRecorder({ client, clock, random, component: NAME, logger }) : undefined;
    const events: EventSink = options.events ?? this.#recorder!;
    const jobInformer: SharedInformer<Job> = informers.informerFor(jobs);
    const podInformer: SharedInformer<Pod> = informers.informerFor(pods);
    podInformer.addIndexers({
      [jobPodsIndex]: jobPodsIndexValues,
      [trackedPodsIndex]: trackedPodsIndexValues,
    });

    const memory = new JobMemory({ clock, jobStore: jobInformer.store, podStore: podInformer.store });
    const onWrite = (pod: PodObject): void => recordPodWrite(pod, jobInformer, memory);
    const podControl = new PodControl({ client, events, onWrite });
    const newQueue = (name: string): RateLimitingQueue<ObjectKey> =>
      new RateLimitingQueue({
        clock,
        name,
        metrics: queueMetrics,
        rateLimiter: new ItemExponentialFailureRateLimiter({ baseDelayMs: RETRY_BASE_MS, maxDelayMs: RETRY_MAX_MS }),
      });
    const queue = newQueue("job");
    const orphanQueue = newQueue("job_orphan_pod");

    const unfinished = new UnfinishedPods();
    const isQuiet = (key: ObjectKey): boolean => {
      const job = jobInformer.store.get(key);
      return job !== undefined && !unfinished.has(job.metadata.uid ?? "") && memory.isUpToDate(key);
    };
    const forgetEnded = (key: ObjectKey): boolean => {
      const job = jobInformer.store.get(key);
      if (job === undefined || !isJobFinished(job)) return false;
      memory.forgetFinished(key, job.metadata.uid ?? "");
      return true;
    };
    const batches: SyncBatches =
      syncBatchPeriodMs === undefined
        ? new AdaptiveBatches({ queue, clock, isQuiet, forgetEnded, periodMs: maxSyncBatchPeriodMs })
        : new FixedBatches({ queue, periodMs: syncBatchPeriodMs });
    this.#batches = batches;
    const handlerDeps = {
      jobs: jobInformer.store,
      pods: podInformer.store,
      queue,
      batches,
      orphanQueue,
      memory,
      clock,
      logger,
      metrics,
      managedBy,
    };
    if (syncBatchPeriodMs === undefined) podInformer.addEventHandler(unfinished);
    jobInformer.addEventHandler(jobEventHandler(handlerDeps));
    podInformer.addEventHandler(podEventHandler(handlerDeps));
    podInformer.addEventHandler(terminatedPodCounter(metrics));

    const waitForSync = async (signal: AbortSignal): Promise<void> => {
      await Promise.all([jobInformer.waitForSync(signal), podInformer.waitForSync(signal)]);
    };
    const syncDeps: JobSyncDeps = {
      jobs: jobInformer.store,
      pods: podInformer.store,
      jobClient: client.resource(jobs),
      podControl,
      events,
      memory,
      batches,
      clock,
      metrics,
      requeueAfter: (key, delayMs) => queue.addAfter(key, delayMs),
      minRequeueMs: syncBatchPeriodMs ?? maxSyncBatchPeriodMs,
      onDecision,
      limits,
      behaviours,
      managedBy,
    };
    const orphanDeps = {
      jobs: jobInformer.store,
      pods: podInformer.store,
      podControl,
      finalizers: memory.finalizers,
      managedBy,
    };
    const loop = { workers, clock, logger, waitForSync, stopTimeoutMs };
    this.#loops = [
      new ReconcileLoop({
        ...loop,
        name: NAME,
        queue,
        reconcile: (key, signal) => syncJob(key, syncDeps, signal),
        describeError: "syncing job",
      }),
      new ReconcileLoop({
        ...loop,
        name: `${NAME} orphan pods`,
        queue: orphanQueue,
        reconcile: (key, signal) => syncOrphanPods(key, orphanDeps, signal),
        describeError: "syncing orphan pod",
      }),
    ];
  }

  async run(signal: AbortSignal): Promise<void> {
    this.#logger.info({}, "Starting job controller");
    try {
      await runInStages([this.#loops, this.#recorder === undefined ? [] : [this.#recorder]], signal);
    } finally {
      this.#batches.stop();
      this.#logger.info({}, "Shutting down job controller");
    }
  }
}

/**
 * A pod was written on behalf of the Job that controls it now, which is not synced again before the cache shows it.
 * Nothing is noted for a Job that is not there: it will not be synced, so nobody would clear the note.
 */
function recordPodWrite(pod: PodObject, { store }: SharedInformer<Job>, memory: JobMemory): void {
  const { namespace = "", resourceVersion = "" } = pod.metadata;
  const reference = getControllerOf(pod);
  if (reference === undefined) return;
  const key = resolveJobKey(store, namespace, reference);
  if (key !== undefined) memory.consistency.wroteAt(key, reference.uid, pods, resourceVersion);
}
