import type { Client } from "@kubewright/client";
import type { Clock, Random } from "@kubewright/clock";
import type { EventSink, Logger, Runnable } from "@kubewright/controller";
import { CronJobController } from "@kubewright/cronjob";
import { GarbageCollector } from "@kubewright/garbage-collector";
import type { InformerFactory } from "@kubewright/informer";
import { JobController } from "@kubewright/job";
import { PodGCController } from "@kubewright/podgc";
import { TTLAfterFinishedController } from "@kubewright/ttl-after-finished";

import type { ManagerMetrics } from "./metrics/manager-metrics.js";
import type { ControllerName } from "./controller-names.js";
import type { ControllerManagerOptions } from "./options.js";

/** What a controller is made of. Client, events and logger are its own; the informers are shared. */
export interface ControllerContext {
  readonly client: Client;
  readonly clock: Clock;
  readonly random: Random;
  readonly informers: InformerFactory;
  readonly events: EventSink;
  readonly logger: Logger;
  readonly options: ControllerManagerOptions;
  /** How long it may take to stop, in milliseconds; may be infinite. */
  readonly stopTimeoutMs: number;
  /** Default: nothing is measured. */
  readonly metrics?: ManagerMetrics | undefined;
  /** Zone of CronJobs without `timeZone`. */
  readonly localTimeZone: string;
}

/** How each controller of this binary is made. Making one registers its handlers; nothing runs yet. */
export const controllerBuilders: Readonly<Record<ControllerName, (context: ControllerContext) => Runnable>> = {
  "job-controller": ({ options, metrics, ...shared }) =>
    new JobController({
      ...shared,
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
      queueMetrics: metrics?.kit.queues,
    }),
  "cronjob-controller": ({ options, metrics, ...shared }) =>
    new CronJobController({
      ...shared,
      workers: options.concurrentCronJobSyncs,
      metrics: metrics?.controllers.cronJob,
      queueMetrics: metrics?.kit.queues,
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
      queueMetrics: metrics?.kit.queues,
    }),
  "garbage-collector-controller": ({ options, metrics, ...shared }) =>
    new GarbageCollector({
      ...shared,
      workers: options.concurrentGcSyncs,
      metrics: metrics?.controllers.garbageCollector,
      queueMetrics: metrics?.kit.queues,
    }),
};
