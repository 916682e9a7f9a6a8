import {
  type Job,
  type ObjectKey,
  type VersionBehaviours,
  getControllerOf,
  isJobFinished,
  jobs,
  pods,
} from "@kubewright/api";
import { type ControllerDeps, ControllerShell, PodControl, type Runnable } from "@kubewright/controller";
import { type SharedInformer, filteringHandler } from "@kubewright/informer";
import { ItemExponentialFailureRateLimiter } from "@kubewright/workqueue";

import { jobEventHandler, podEventHandler } from "./event-handlers.js";
import { type HandlesJob, handledJobs, handlesPod } from "./handled-jobs.js";
import type { JobLimits } from "./job-limits.js";
import { JobMemory } from "./job-memory.js";
import { type JobMetrics, noJobMetrics } from "./job-metrics.js";
import { jobPodsIndex, jobPodsIndexValues } from "./job-pods-index.js";
import type { PodObject } from "./job-spec.js";
import type { OrphanKey } from "./orphan-key.js";
import { syncOrphanPods, trackedPodsIndex, trackedPodsIndexValues } from "./orphan-pods.js";
import { resolveJobKey } from "./resolve-job.js";
import { AdaptiveBatches, FixedBatches, SYNC_BATCH_PERIOD_MS, type SyncBatches } from "./sync-batches.js";
import type { JobDecision } from "./job-decision.js";
import type { JobSyncDeps } from "./sync-deps.js";
import { syncJob } from "./sync-job.js";
import { terminatedPodCounter } from "./terminated-pods.js";
import { UnfinishedPods } from "./unfinished-pods.js";

export interface JobControllerOptions extends ControllerDeps {
  /** Number of Jobs, and number of orphan pods, synced concurrently; at least 1. Default 5. */
  readonly workers?: number;
  /**
   * Milliseconds that pod events and status writes are batched before their Job is synced; upstream's value is 1000.
   * Default: adaptive, at most 1000, and less when no further event is expected.
   */
  readonly syncBatchPeriodMs?: number;
  /** Maximum of the adaptive period in milliseconds. Default 1000. */
  readonly maxSyncBatchPeriodMs?: number;
  /** Limits that are constants upstream. Default: upstream's values. */
  readonly limits?: JobLimits;
  /**
   * Whether a Job is synced only after the caches show the controller's own writes for it
   * (`StaleControllerConsistencyJob`, in Kubernetes since 1.36). Default true.
   */
  readonly consistencyGate?: boolean | undefined;
  /** The Kubernetes release whose behaviour the controller has. Default: the newest. */
  readonly behaviours?: VersionBehaviours | undefined;
  /**
   * Handles exactly the Jobs with this `spec.managedBy`. Default: Jobs without `managedBy`, or with
   * `kubernetes.io/job-controller`.
   */
  readonly managedBy?: string | undefined;
  /**
   * Selects the Jobs of this controller by UID, when several controllers share the Jobs of a namespace. For each Job
   * exactly one controller must return true, and always the same one. Default: all Jobs.
   *
   * The caches must contain the Jobs and pods of all controllers, because any matching Job may adopt a pod. The
   * controller syncs, counts and removes finalizers only for its own Jobs.
   */
  readonly handles?: HandlesJob | undefined;
  /** Called after every sync that had something to decide. */
  readonly onDecision?: (decision: JobDecision) => void;
  readonly metrics?: JobMetrics | undefined;
}

const NAME = "job-controller";
const RETRY = { baseDelayMs: 1_000, maxDelayMs: 60_000 };

/**
 * Reconciles Jobs: creates and deletes their pods, counts each ended pod exactly once, and declares Jobs finished.
 *
 * Upstream: pkg/controller/job/job_controller.go.
 */
export class JobController implements Runnable {
  readonly name = NAME;
  readonly #shell: ControllerShell;

  constructor(options: JobControllerOptions) {
    const {
      workers = 5,
      syncBatchPeriodMs,
      maxSyncBatchPeriodMs = SYNC_BATCH_PERIOD_MS,
      limits,
      consistencyGate,
      behaviours,
      managedBy,
      handles,
      onDecision,
      metrics = noJobMetrics,
    } = options;
    const shell = new ControllerShell(options, {
      name: NAME,
      logMessages: { starting: "Starting job controller", stopped: "Shutting down job controller" },
    });
    this.#shell = shell;
    const { client, clock, events, logger } = shell;
    const jobInformer = shell.informer(jobs);
    const podInformer = shell.informer(pods);
    const ownJobs = handles === undefined ? jobInformer.store : handledJobs(jobInformer.store, handles);
    const podStore = podInformer.addIndexers({
      [jobPodsIndex]: jobPodsIndexValues,
      [trackedPodsIndex]: trackedPodsIndexValues,
    });

    const memory = new JobMemory({
      clock,
      jobStore: jobInformer.store,
      podStore,
      ...(consistencyGate === undefined ? {} : { consistencyGate }),
    });
    const onWrite = (pod: PodObject): void => recordPodWrite(pod, jobInformer, memory);
    const podControl = new PodControl({ client, events, onWrite });
    const queue = shell.addLoop({
      queue: "job",
      workers,
      rateLimiter: new ItemExponentialFailureRateLimiter(RETRY),
      reconcile: (key, signal) => batches.runSync(key, () => syncJob(key, syncDeps, signal)),
      describeError: "syncing job",
    });
    const orphanQueue = shell.addLoop<OrphanKey>({
      name: `${NAME} orphan pods`,
      queue: "job_orphan_pod",
      workers,
      rateLimiter: new ItemExponentialFailureRateLimiter(RETRY),
      reconcile: (key, signal) => syncOrphanPods(key, orphanDeps, signal),
      describeError: "syncing orphan pod",
    });

    const unfinished = new UnfinishedPods();
    const isQuiet = (key: ObjectKey): boolean => {
      const job = ownJobs.get(key);
      return job !== undefined && !unfinished.has(job.metadata.uid ?? "") && memory.isUpToDate(key);
    };
    const forgetEnded = (key: ObjectKey): boolean => {
      const job = ownJobs.get(key);
      if (job === undefined || !isJobFinished(job)) return false;
      memory.forgetFinished(key, job.metadata.uid ?? "");
      return true;
    };
    const batches: SyncBatches =
      syncBatchPeriodMs === undefined
        ? new AdaptiveBatches({ queue, clock, isQuiet, forgetEnded, periodMs: maxSyncBatchPeriodMs })
        : new FixedBatches({ queue, periodMs: syncBatchPeriodMs });
    shell.onStopped(() => batches.stop());
    const handlerDeps = {
      jobs: ownJobs,
      pods: podStore,
      queue,
      batches,
      orphanQueue,
      memory,
      clock,
      logger,
      metrics,
      managedBy,
    };
    const jobHandler = jobEventHandler(handlerDeps);
    const podCounter = terminatedPodCounter(metrics);
    if (syncBatchPeriodMs === undefined) podInformer.addEventHandler(unfinished);
    jobInformer.addEventHandler(
      handles === undefined ? jobHandler : filteringHandler(({ metadata }) => handles(metadata.uid ?? ""), jobHandler),
    );
    podInformer.addEventHandler(podEventHandler(handlerDeps));
    podInformer.addEventHandler(
      handles === undefined ? podCounter : filteringHandler((pod) => handlesPod(pod, handles), podCounter),
    );

    const syncDeps: JobSyncDeps = {
      jobs: ownJobs,
      pods: podStore,
      jobClient: client.resource(jobs),
      podControl,
      events,
      memory,
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
      jobs: ownJobs,
      pods: podStore,
      podControl,
      finalizers: memory.finalizers,
      managedBy,
      handles,
    };
  }

  run(signal: AbortSignal): Promise<void> {
    return this.#shell.run(signal);
  }
}

/**
 * Records a pod write on behalf of the Job that controls the pod. The Job is not synced again before the cache shows
 * the write. For a missing Job nothing is recorded: it will not be synced, so the record would never be deleted.
 */
function recordPodWrite(pod: PodObject, { store }: SharedInformer<Job>, memory: JobMemory): void {
  const { namespace = "", resourceVersion = "" } = pod.metadata;
  const reference = getControllerOf(pod);
  if (reference === undefined) return;
  const key = resolveJobKey(store, namespace, reference);
  if (key !== undefined) memory.consistency.wroteAt(key, reference.uid, pods, resourceVersion);
}
