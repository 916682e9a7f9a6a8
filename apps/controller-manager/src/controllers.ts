import type { ControllerDeps, Runnable } from "@kubewright/controller";
import { CronJobController } from "@kubewright/cronjob";
import { GarbageCollector } from "@kubewright/garbage-collector";
import { JobController, type JobControllerOptions } from "@kubewright/job";
import { PodGCController } from "@kubewright/podgc";
import { TTLAfterFinishedController } from "@kubewright/ttl-after-finished";

import type { ManagerMetrics } from "./metrics/manager-metrics.js";
import type { ControllerName } from "./controller-names.js";
import type { ControllerManagerOptions } from "./options.js";

/** Dependencies of a controller. Each controller has its own client, events and logger; the informers are shared. */
export interface ControllerContext extends ControllerDeps {
  readonly options: ControllerManagerOptions;
  /** Default: no metrics. */
  readonly metrics?: ManagerMetrics | undefined;
  /** Time zone of CronJobs without `timeZone`. */
  readonly localTimeZone: string;
  /** Selects the Jobs that the Job controller handles. Default: all Jobs in its cache. */
  readonly handlesJob?: JobControllerOptions["handles"];
}

/** Constructors of the controllers. Constructing one registers its event handlers; nothing runs yet. */
export const controllerBuilders: Readonly<Record<ControllerName, (context: ControllerContext) => Runnable>> = {
  "job-controller": ({ options, metrics, handlesJob, ...shared }) =>
    new JobController({
      ...shared,
      handles: handlesJob,
      workers: options.concurrentJobSyncs,
      managedBy: options.managedBy === "" ? undefined : options.managedBy,
      maxSyncBatchPeriodMs: options.jobSyncBatchPeriodMs,
      limits: {
        podBackoffBaseMs: options.jobPodFailureBackoffBaseMs,
        podBackoffMaxMs: options.jobPodFailureBackoffMaxMs,
        maxUncountedPods: options.jobMaxUncountedPods,
        maxPodsPerSync: options.jobMaxPodCreateDeletePerSync,
      },
      metrics: metrics?.controllers.job,
    }),
  "cronjob-controller": ({ options, metrics, ...shared }) =>
    new CronJobController({
      ...shared,
      workers: options.concurrentCronJobSyncs,
      metrics: metrics?.controllers.cronJob,
    }),
  "pod-garbage-collector-controller": ({ options, metrics, ...shared }) =>
    new PodGCController({
      ...shared,
      terminatedPodThreshold: options.terminatedPodGcThreshold,
      periodMs: options.podgcPeriodMs,
      quarantineMs: options.podgcQuarantineMs,
      metrics: metrics?.controllers.podGC,
    }),
  "ttl-after-finished-controller": ({ options, metrics, ...shared }) =>
    new TTLAfterFinishedController({
      ...shared,
      workers: options.concurrentTtlAfterFinishedSyncs,
      metrics: metrics?.controllers.ttlAfterFinished,
    }),
  "garbage-collector-controller": ({ options, metrics, ...shared }) =>
    new GarbageCollector({
      ...shared,
      workers: options.concurrentGcSyncs,
      metrics: metrics?.controllers.garbageCollector,
    }),
};
