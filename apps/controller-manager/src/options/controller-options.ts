import { flagGroup } from "../flag.js";
import { bool, duration, int32 } from "../flag-types.js";

export interface JobOptions {
  readonly concurrentJobSyncs: number;
  readonly jobPodFailureBackoffBaseMs: number;
  readonly jobPodFailureBackoffMaxMs: number;
  /** Longest time for which pod events and status writes are batched before their Job is synced. */
  readonly jobSyncBatchPeriodMs: number;
  readonly jobMaxUncountedPods: number;
  readonly jobMaxPodCreateDeletePerSync: number;
}

export interface CronJobOptions {
  readonly concurrentCronJobSyncs: number;
}

export interface TtlAfterFinishedOptions {
  readonly concurrentTtlAfterFinishedSyncs: number;
}

export interface GarbageCollectorOptions {
  readonly concurrentGcSyncs: number;
  /** False: the garbage collector does not run, even if `controllers` enables it. */
  readonly enableGarbageCollector: boolean;
}

export interface PodGCOptions {
  /** Number of terminated pods of the whole cluster that PodGC keeps; 0 or less: all of them. */
  readonly terminatedPodGcThreshold: number;
  readonly podgcPeriodMs: number;
  readonly podgcQuarantineMs: number;
}

export interface ControllerOptions
  extends JobOptions, CronJobOptions, TtlAfterFinishedOptions, GarbageCollectorOptions, PodGCOptions {}

export const controllerDefaults: ControllerOptions = {
  concurrentJobSyncs: 5,
  jobPodFailureBackoffBaseMs: 10_000,
  jobPodFailureBackoffMaxMs: 600_000,
  jobSyncBatchPeriodMs: 1_000,
  jobMaxUncountedPods: 500,
  jobMaxPodCreateDeletePerSync: 500,
  concurrentCronJobSyncs: 5,
  concurrentTtlAfterFinishedSyncs: 5,
  concurrentGcSyncs: 20,
  enableGarbageCollector: true,
  terminatedPodGcThreshold: 12_500,
  podgcPeriodMs: 20_000,
  podgcQuarantineMs: 40_000,
};

const TUNING = "a constant upstream, for tests; not for production without reason";

export const controllerFlags = [
  ...flagGroup<GarbageCollectorOptions>("Garbage-collector-controller", {
    concurrentGcSyncs: ["concurrent-gc-syncs", int32, "objects looked at at once"],
    enableGarbageCollector: [
      "enable-garbage-collector",
      bool,
      "false: the garbage collector does not run, whatever --controllers says",
    ],
  }),
  ...flagGroup<JobOptions>("Job-controller", {
    concurrentJobSyncs: ["concurrent-job-syncs", int32, "Jobs synced at once"],
    jobPodFailureBackoffBaseMs: [
      "job-pod-failure-backoff-base",
      duration,
      `pause before a failed pod is replaced, doubled by each further failure (${TUNING})`,
    ],
    jobPodFailureBackoffMaxMs: ["job-pod-failure-backoff-max", duration, `longest such pause (${TUNING})`],
    jobSyncBatchPeriodMs: [
      "job-sync-batch-period",
      duration,
      `longest that changes of a Job's pods are gathered before it is synced; shorter when nothing is to be gathered (${TUNING})`,
    ],
    jobMaxUncountedPods: ["job-max-uncounted-pods", int32, `ended pods one sync accounts for at most (${TUNING})`],
    jobMaxPodCreateDeletePerSync: [
      "job-max-pod-create-delete-per-sync",
      int32,
      `pods one sync creates or deletes at most (${TUNING})`,
    ],
  }),
  ...flagGroup<CronJobOptions>("Cronjob-controller", {
    concurrentCronJobSyncs: ["concurrent-cron-job-syncs", int32, "CronJobs synced at once"],
  }),
  ...flagGroup<PodGCOptions>("Pod-garbage-collector-controller", {
    terminatedPodGcThreshold: [
      "terminated-pod-gc-threshold",
      int32,
      "terminated pods of the whole cluster that are not deleted; 0 or less: all of them",
    ],
    podgcPeriodMs: ["podgc-period", duration, `from the end of a pass to the next (${TUNING})`],
    podgcQuarantineMs: [
      "podgc-quarantine",
      duration,
      `how long a node is missing before its pods are given up (${TUNING})`,
    ],
  }),
  ...flagGroup<TtlAfterFinishedOptions>("Ttl-after-finished-controller", {
    concurrentTtlAfterFinishedSyncs: ["concurrent-ttl-after-finished-syncs", int32, "finished Jobs looked at at once"],
  }),
];

/**
 * Validates the options. Worker counts below 1 are refused throughout: without workers, upstream's TTL and garbage
 * queues grow and never drain.
 */
export function controllerErrors(options: ControllerOptions): string[] {
  const errors: string[] = [];
  const atLeastOne = (flag: string, value: number): void => {
    if (!(value >= 1)) errors.push(`${flag} must be greater than 0, but got ${value}`);
  };
  const positive = (flag: string, valueMs: number): void => {
    if (!(valueMs > 0)) errors.push(`${flag} must be longer than 0s`);
  };
  atLeastOne("concurrent-job-syncs", options.concurrentJobSyncs);
  atLeastOne("concurrent-cron-job-syncs", options.concurrentCronJobSyncs);
  atLeastOne("concurrent-ttl-after-finished-syncs", options.concurrentTtlAfterFinishedSyncs);
  atLeastOne("concurrent-gc-syncs", options.concurrentGcSyncs);
  positive("job-pod-failure-backoff-base", options.jobPodFailureBackoffBaseMs);
  if (options.jobPodFailureBackoffMaxMs < options.jobPodFailureBackoffBaseMs)
    errors.push("job-pod-failure-backoff-max must not be shorter than job-pod-failure-backoff-base");
  if (options.jobSyncBatchPeriodMs < 0) errors.push("job-sync-batch-period must not be negative");
  atLeastOne("job-max-uncounted-pods", options.jobMaxUncountedPods);
  atLeastOne("job-max-pod-create-delete-per-sync", options.jobMaxPodCreateDeletePerSync);
  positive("podgc-period", options.podgcPeriodMs);
  if (options.podgcQuarantineMs < 0) errors.push("podgc-quarantine must not be negative");
  return errors;
}
