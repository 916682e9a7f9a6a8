import { type OptionsOf, option, optionGroup } from "../flag.js";
import { bool, duration, int32 } from "../flag-types.js";

const TUNING = "a constant upstream, for tests; not for production without reason";

/** Options of the controllers, a group for each. */
export const controllerOptions = {
  ...optionGroup("Garbage-collector-controller", {
    concurrentGcSyncs: option(int32, 20, "objects looked at at once"),
    /** False: the garbage collector does not run, even if `controllers` enables it. */
    enableGarbageCollector: option(
      bool,
      true,
      "false: the garbage collector does not run, whatever --controllers says",
    ),
  }),
  ...optionGroup("Job-controller", {
    concurrentJobSyncs: option(int32, 5, "Jobs synced at once"),
    jobPodFailureBackoffBaseMs: option(
      duration,
      10_000,
      `pause before a failed pod is replaced, doubled by each further failure (${TUNING})`,
    ),
    jobPodFailureBackoffMaxMs: option(duration, 600_000, `longest such pause (${TUNING})`),
    /** Longest time for which pod events and status writes are batched before their Job is synced. */
    jobSyncBatchPeriodMs: option(
      duration,
      1_000,
      `longest that changes of a Job's pods are gathered before it is synced; shorter when nothing is to be gathered (${TUNING})`,
    ),
    jobMaxUncountedPods: option(int32, 500, `ended pods one sync accounts for at most (${TUNING})`),
    jobMaxPodCreateDeletePerSync: option(int32, 500, `pods one sync creates or deletes at most (${TUNING})`),
  }),
  ...optionGroup("Cronjob-controller", {
    concurrentCronJobSyncs: option(int32, 5, "CronJobs synced at once"),
  }),
  ...optionGroup("Pod-garbage-collector-controller", {
    /** Number of terminated pods of the whole cluster that PodGC keeps; 0 or less: all of them. */
    terminatedPodGcThreshold: option(
      int32,
      12_500,
      "terminated pods of the whole cluster that are not deleted; 0 or less: all of them",
    ),
    podgcPeriodMs: option(duration, 20_000, `from the end of a pass to the next (${TUNING})`),
    podgcQuarantineMs: option(duration, 40_000, `how long a node is missing before its pods are given up (${TUNING})`),
  }),
  ...optionGroup("Ttl-after-finished-controller", {
    concurrentTtlAfterFinishedSyncs: option(int32, 5, "finished Jobs looked at at once"),
  }),
};

type ControllerOptions = OptionsOf<typeof controllerOptions>;

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
