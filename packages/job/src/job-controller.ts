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
  /** Jobs synced at once, and orphan pods looked at at once; at least 1. Default 5. */
  readonly workers?: number;
  /**
   * How long events of pods and status writes are gathered before their Job is synced, in milliseconds: upstream's is
   * 1000. Default: adaptive, which is 1000 at most, and less when nothing more is to be gathered.
   */
  readonly syncBatchPeriodMs?: number;
  /** The most of the adaptive period, in milliseconds. Default 1000. */
  readonly maxSyncBatchPeriodMs?: number;
  /** Constants upstream. Default: upstream's. */
  readonly limits?: JobLimits;
  /**
   * Whether a Job is synced only once the caches show what was written for it (`StaleControllerConsistencyJob`, which
   * Kubernetes has from 1.36 on). Default true.
   */
  readonly consistencyGate?: boolean | undefined;
  /** Which release's controller it is like. Default: the newest one's. */
  readonly behaviours?: VersionBehaviours | undefined;
  /**
   * Handle exactly the Jobs whose `spec.managedBy` is this. Default: those without `managedBy`, or with
   * `kubernetes.io/job-controller`.
   */
  readonly managedBy?: string | undefined;
  /**
   * Which Jobs are this controller's, by their uid, where several share the Jobs of a namespace: of each Job exactly one must say
   * true, and always the same. The caches have to show the Jobs and pods of all, since a pod is adopted by whichever Job matches it;
   * only what is of Jobs handled here is synced, counted and freed. Default: all are.
   */
  readonly handles?: HandlesJob | undefined;
  /** Told after every sync that had something to decide. */
  readonly onDecision?: (decision: JobDecision) => void;
  readonly metrics?: JobMetrics | undefined;
}

const NAME = "job-controller";
const RETRY = { baseDelayMs: 1_000, maxDelayMs: 60_000 };

/**
 * Brings about what Jobs ask for: creates and deletes their pods, accounts for each ended one exactly once, and declares
 * Jobs finished.
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
