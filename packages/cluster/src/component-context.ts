import type { VersionBehaviours } from "@kubewright/api";
import type { Client } from "@kubewright/client";
import type { Clock, Random } from "@kubewright/clock";
import type { Logger } from "@kubewright/controller";
import type { InformerFactory } from "@kubewright/informer";

import type { Decision } from "./controllers.js";

/** What a component of the cluster is handed. */
export interface ComponentContext {
  readonly client: Client;
  readonly clock: Clock;
  readonly random: Random;
  readonly informers: InformerFactory;
  readonly logger: Logger;
  /** Zone of CronJobs without `timeZone`. */
  readonly localTimeZone: string;
  /** Ended pods that are let be. Default: as upstream. */
  readonly terminatedPodGCThreshold: number | undefined;
  /** For informers of its own: watches last between this and twice this. */
  readonly watchTimeoutMs: number;
  /** Of the release that the cluster is like. */
  readonly behaviours: VersionBehaviours;
  readonly onDecision: (decision: Decision) => void;
}
