import type { Job, ObjectKey, Pod, VersionBehaviours } from "@kubewright/api";
import type { Reader, StatusWriter } from "@kubewright/client";
import type { Clock } from "@kubewright/clock";
import type { EventSink, PodControl } from "@kubewright/controller";
import type { Lister } from "@kubewright/informer";

import type { JobLimits } from "./job-limits.js";
import type { JobMemory } from "./job-memory.js";
import type { JobMetrics } from "./job-metrics.js";
import type { jobPodsIndex } from "./job-pods-index.js";
import type { JobReason } from "./job-reason.js";
import type { JobObject } from "./job-spec.js";
import type { JobPlan } from "./plan-job.js";
import type { SyncAction } from "./plan-pods.js";
import type { JobDecision } from "./job-decision.js";

/** Dependencies of Job syncs. */
export interface JobSyncDeps {
  /** The Jobs that this controller handles. */
  readonly jobs: Pick<Lister<Job>, "get">;
  readonly pods: Pick<Lister<Pod, typeof jobPodsIndex>, "byIndex">;
  readonly jobClient: Reader<Job> & StatusWriter<Job>;
  readonly podControl: PodControl;
  readonly events: EventSink;
  readonly memory: JobMemory;
  readonly clock: Clock;
  readonly metrics: JobMetrics;
  /** Syncs the key again after this delay; immediately if not positive. */
  readonly requeueAfter: (key: ObjectKey, delayMs: number) => void;
  /** Minimum delay before a Job in backoff is synced again. */
  readonly minRequeueMs: number;
  readonly onDecision?: ((decision: JobDecision) => void) | undefined;
  /** Default: upstream's. */
  readonly limits?: JobLimits | undefined;
  /** Default: those of the newest release. */
  readonly behaviours?: VersionBehaviours | undefined;
  /** Handles the Jobs with this `spec.managedBy`. Default: the Jobs of the built-in controller. */
  readonly managedBy?: string | undefined;
}

/** A sync in progress, after planning. */
export interface JobSync {
  readonly key: ObjectKey;
  readonly job: JobObject;
  readonly plan: JobPlan;
  readonly deps: JobSyncDeps;
  readonly record: SyncRecord;
  readonly signal: AbortSignal;
}

/** What a sync has done so far. It is recorded during the sync, because the sync may fail in the middle. */
export interface SyncRecord {
  action: SyncAction;
  readonly reasons: JobReason[];
  statusWrites: number;
}
