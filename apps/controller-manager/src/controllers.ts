import type { Client } from "@kubewright/client";
import type { Clock, Random } from "@kubewright/clock";
import type { EventSink, Logger, Runnable } from "@kubewright/controller";
import { CronJobController } from "@kubewright/cronjob";
import { GarbageCollector } from "@kubewright/garbage-collector";
import type { InformerFactory } from "@kubewright/informer";
import { JobController } from "@kubewright/job";
import { PodGCController } from "@kubewright/podgc";
import { TTLAfterFinishedController } from "@kubewright/ttl-after-finished";

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
  /** Zone of CronJobs without `timeZone`. */
  readonly localTimeZone: string;
}

/** How each controller of this binary is made. Making one registers its handlers; nothing runs yet. */
export const controllerBuilders: Readonly<Record<ControllerName, (context: ControllerContext) => Runnable>> = {
  "job-controller": ({ options, ...shared }) => new JobController({ ...shared, workers: options.concurrentJobSyncs }),
  "cronjob-controller": ({ options, ...shared }) =>
    new CronJobController({ ...shared, workers: options.concurrentCronJobSyncs }),
  "pod-garbage-collector-controller": ({ options, ...shared }) =>
    new PodGCController({ ...shared, terminatedPodThreshold: options.terminatedPodGcThreshold }),
  "ttl-after-finished-controller": ({ options, ...shared }) =>
    new TTLAfterFinishedController({ ...shared, workers: options.concurrentTtlAfterFinishedSyncs }),
  "garbage-collector-controller": ({ options, ...shared }) =>
    new GarbageCollector({ ...shared, workers: options.concurrentGcSyncs }),
};
