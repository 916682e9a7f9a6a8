import {
  type CronJob,
  type DeepReadonly,
  type Job,
  type ObjectKey,
  cronJobs,
  getControllerOf,
  jobs,
  keyOf,
  objectKey,
} from "@kubewright/api";
import type { Clock } from "@kubewright/clock";
import {
  type ControllerDeps,
  ControllerShell,
  type EventSink,
  type ReconcileResult,
  type Runnable,
} from "@kubewright/controller";
import { type Lister, type SharedInformer, deletedObject, isDeletedFinalStateUnknown } from "@kubewright/informer";
import type { RateLimitingQueue } from "@kubewright/workqueue";

import type { CronJobDecision } from "./decision.js";
import { slotSearch } from "./plan-cron-job.js";
import { nextScheduleDelayMs } from "./schedule-slots.js";
import { Schedules, effectiveSchedule } from "./schedules.js";
import { type SyncDeps, type SyncMemory, syncCronJob } from "./sync-cron-job.js";

export interface CronJobControllerOptions extends ControllerDeps {
  /** Number of CronJobs synced concurrently. Default 5. */
  readonly workers?: number;
  /**
   * Time zone of CronJobs without `spec.timeZone`. A controller manager passes the zone of its process. Default `UTC`.
   */
  readonly localTimeZone?: string;
  /**
   * Epoch milliseconds. An earlier controller has reported missed slots before this time, so decisions do not list
   * them. Default: decisions list all missed slots. The setting does not affect which Jobs are started.
   */
  readonly missedSince?: number | undefined;
  /** Called with the decision of every sync, also when no slot was due. */
  readonly onDecision?: (decision: CronJobDecision) => void;
  readonly metrics?: CronJobMetrics | undefined;
}

export interface CronJobMetrics {
  /**
   * Records `cronjob_controller_job_creation_skew_duration_seconds`: seconds from a slot to the creation of its Job.
   * Upstream's buckets are 1, 2, 4 … 512.
   */
  jobCreationSkew(seconds: number): void;
}

/** Name of the index of Jobs by the name of their controller: `namespace/name`, of any kind. */
const controllerNameIndex = "cronJobControllerName";

interface Memory extends SyncMemory {
  readonly uid: string | undefined;
}

/**
 * Starts Jobs on schedule: the CronJob controller, version 2.
 *
 * Each sync of a CronJob sets one timer for the next slot. A change of the CronJob or its Jobs triggers a sync
 * immediately. The exception is a changed schedule, which only sets the timer for the new schedule's next slot.
 *
 * @see kubernetes v1.36 pkg/controller/cronjob/cronjob_controllerv2.go ControllerV2
 */
export class CronJobController implements Runnable {
  readonly name = "cronjob-controller";
  readonly #shell: ControllerShell;
  readonly #clock: Clock;
  readonly #queue: RateLimitingQueue<ObjectKey>;
  readonly #cronJobs: SharedInformer<CronJob>;
  readonly #jobs: SharedInformer<Job>;
  readonly #jobStore: Lister<Job, typeof controllerNameIndex>;
  readonly #schedules: Schedules;
  readonly #events: EventSink;
  readonly #deps: SyncDeps;
  /** The memory of a CronJob before its first sync. */
  readonly #initialMemory: SyncMemory;
  readonly #memories = new Map<ObjectKey, Memory>();

  constructor(options: CronJobControllerOptions) {
    const { localTimeZone = "UTC", workers = 5, metrics, missedSince } = options;
    const shell = new ControllerShell(options, {
      name: this.name,
      logMessages: { starting: "Starting cronjob controller v2", stopped: "Shutting down cronjob controller v2" },
    });
    this.#shell = shell;
    const { client, clock } = shell;
    this.#clock = clock;
    this.#events = shell.events;
    this.#schedules = new Schedules(localTimeZone);
    this.#initialMemory = missedSince === undefined ? {} : { reported: { upToMs: missedSince - 1 } };
    this.#cronJobs = shell.informer(cronJobs);
    this.#jobs = shell.informer(jobs);
    this.#jobStore = this.#jobs.addIndexers({ [controllerNameIndex]: controllerNameIndexValues });
    this.#deps = {
      cronJobs: client.resource(cronJobs),
      jobs: client.resource(jobs),
      events: this.#events,
      now: () => clock.now(),
      schedules: this.#schedules,
      observeCreationSkew: (seconds) => metrics?.jobCreationSkew(seconds),
      onDecision: (decision) => options.onDecision?.(decision),
    };
    this.#queue = shell.addLoop({
      queue: "cronjob",
      workers,
      reconcile: (key) => this.#sync(key),
      describeError: "Error syncing CronJobController, requeuing",
    });
    this.#cronJobs.addEventHandler({
      onAdd: (cronJob) => this.#queue.add(keyOf(cronJob)),
      onUpdate: (old, cronJob) => this.#updateCronJob(old, cronJob),
      onDelete: (deleted) => this.#queue.add(isDeletedFinalStateUnknown(deleted) ? deleted.key : keyOf(deleted)),
    });
    this.#jobs.addEventHandler({
      onAdd: (job) => this.#enqueueOwner(job),
      onUpdate: (old, job) => this.#updateJob(old, job),
      onDelete: (deleted) => {
        const job = deletedObject(deleted);
        if (job !== undefined) this.#enqueueOwner(job);
      },
    });
  }

  run(signal: AbortSignal): Promise<void> {
    return this.#shell.run(signal);
  }

  async #sync(key: ObjectKey): Promise<ReconcileResult> {
    const cronJob = this.#cronJobs.store.get(key);
    if (cronJob === undefined) {
      this.#memories.delete(key);
      return { keepFailures: true };
    }
    const children = this.#jobStore.byIndex(controllerNameIndex, key);
    const { uid } = cronJob.metadata;
    let memory = this.#memories.get(key);
    if (memory === undefined || memory.uid !== uid) {
      memory = { uid, ...this.#initialMemory };
      this.#memories.set(key, memory);
    }
    const requeueAfterMs = await syncCronJob(cronJob, children, memory, this.#deps);
    return requeueAfterMs === undefined ? { keepFailures: true } : { requeueAfterMs };
  }

  #updateCronJob(old: DeepReadonly<CronJob>, cronJob: DeepReadonly<CronJob>): void {
    const key = keyOf(cronJob);
    const spec = cronJob.spec;
    if (spec === undefined || (old.spec?.schedule === spec.schedule && old.spec?.timeZone === spec.timeZone)) {
      this.#queue.add(key);
      return;
    }
    const parsed = this.#schedules.parse(effectiveSchedule(spec, this.#schedules));
    if (!("schedule" in parsed)) {
      const message = `unparseable schedule for cronjob: ${spec.schedule}`;
      this.#events.event(cronJob, cronJobs, "Warning", "UnParseableCronJobSchedule", message);
      return;
    }
    this.#queue.addAfter(key, nextScheduleDelayMs(slotSearch(cronJob, parsed.schedule), this.#clock.now()));
  }

  #updateJob(old: DeepReadonly<Job>, job: DeepReadonly<Job>): void {
    if (old.metadata.resourceVersion === job.metadata.resourceVersion) return;
    const keyBefore = this.#keyOfOwner(old);
    const key = this.#keyOfOwner(job);
    if (keyBefore !== undefined && keyBefore !== key) this.#queue.add(keyBefore);
    if (key !== undefined) this.#queue.add(key);
  }

  #enqueueOwner(job: DeepReadonly<Job>): void {
    const key = this.#keyOfOwner(job);
    if (key !== undefined) this.#queue.add(key);
  }

  /** Returns the key of the CronJob that controls the Job, if the cache contains the CronJob with that UID. */
  #keyOfOwner(job: DeepReadonly<Job>): ObjectKey | undefined {
    const controller = getControllerOf(job);
    if (controller?.kind !== cronJobs.kind) return undefined;
    const key = objectKey({ namespace: job.metadata.namespace, name: controller.name });
    return this.#cronJobs.store.get(key)?.metadata.uid === controller.uid ? key : undefined;
  }
}

function controllerNameIndexValues(job: DeepReadonly<Job>): readonly string[] {
  const controller = getControllerOf(job);
  return controller === undefined ? [] : [objectKey({ namespace: job.metadata.namespace, name: controller.name })];
}
