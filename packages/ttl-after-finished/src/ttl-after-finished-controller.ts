import { type DeepReadonly, type Job, jobs, keyOf } from "@kubewright/api";
import { type ControllerDeps, ControllerShell, type Runnable } from "@kubewright/controller";

import type { TTLDecision } from "./decision.js";
import { type SyncDeps, syncJob } from "./sync-job.js";
import { needsCleanup } from "./time-left.js";

export interface TTLAfterFinishedControllerOptions extends ControllerDeps {
  /** Number of concurrent syncs. Default 5. */
  readonly workers?: number;
  readonly metrics?: TTLAfterFinishedMetrics | undefined;
  /** Called for every synced Job that has finished and has a TTL. */
  readonly onDecision?: (decision: TTLDecision) => void;
}

export interface TTLAfterFinishedMetrics {
  /**
   * `ttl_after_finished_controller_job_deletion_duration_seconds`: seconds from the expiry of a Job's TTL to its
   * deletion. Upstream's buckets are 0.1, 0.2, 0.4 … 819.2.
   */
  jobDeletionDuration(seconds: number): void;
}

/**
 * Deletes finished Jobs `ttlSecondsAfterFinished` after they finished, in the foreground: a garbage collector has to
 * delete their pods first.
 *
 * A timer per Job fires exactly when the TTL expires. If the TTL has changed by then, the Job is evaluated again.
 *
 * @see kubernetes v1.36 pkg/controller/ttlafterfinished/ttlafterfinished_controller.go Controller
 */
export class TTLAfterFinishedController implements Runnable {
  readonly name = "ttl-after-finished-controller";
  readonly #shell: ControllerShell;

  constructor(options: TTLAfterFinishedControllerOptions) {
    const { workers = 5, metrics } = options;
    const shell = new ControllerShell(options, {
      name: this.name,
      logMessages: {
        starting: "Starting TTL after finished controller",
        stopped: "Shutting down TTL after finished controller",
      },
    });
    this.#shell = shell;
    const { client, clock, logger } = shell;
    const informer = shell.informer(jobs);
    const deps: SyncDeps = {
      cache: informer.store,
      jobs: client.resource(jobs),
      logger,
      now: () => clock.now(),
      onDecision: (decision) => options.onDecision?.(decision),
      observeDeletion: (seconds) => metrics?.jobDeletionDuration(seconds),
    };
    const queue = shell.addLoop({
      queue: "ttl_jobs_to_delete",
      workers,
      reconcile: (key, signal) => syncJob(key, deps, signal),
      describeError: "Error cleaning up Job, will retry",
    });
    const enqueue = (job: DeepReadonly<Job>): void => {
      if (!job.metadata.deletionTimestamp && needsCleanup(job)) queue.add(keyOf(job));
    };
    informer.addEventHandler({ onAdd: enqueue, onUpdate: (_old, job) => enqueue(job) });
  }

  run(signal: AbortSignal): Promise<void> {
    return this.#shell.run(signal);
  }
}
