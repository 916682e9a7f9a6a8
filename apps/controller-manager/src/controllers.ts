import type { ControllerDeps, Runnable } from "@kubewright/controller";
import { CronJobController } from "@kubewright/cronjob";
import { GarbageCollector } from "@kubewright/garbage-collector";
import { JobController, type JobControllerOptions } from "@kubewright/job";
import { PodGCController } from "@kubewright/podgc";
import { TTLAfterFinishedController } from "@kubewright/ttl-after-finished";

import type { ManagerMetrics } from "./metrics/manager-metrics.js";
import type { ControllerName } from "./controller-names.js";
import type { ControllerManagerOptions } from "./options.js";

/** What a controller is made of. Client, events and logger are its own; the informers are shared. */
export interface ControllerContext extends ControllerDeps {
  readonly options: ControllerManagerOptions;
  /** Default: nothing is measured. */
  readonly metrics?: ManagerMetrics | undefined;
  /** Zone of CronJobs without `timeZone`. */
  readonly localTimeZone: string;
  /** Which Jobs the Job controller handles. Default: all that it sees. */
  readonly handlesJob?: JobControllerOptions["handles"];
}

/** How each controller of this binary is made. Making one registers its handlers; nothing runs yet. */
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
