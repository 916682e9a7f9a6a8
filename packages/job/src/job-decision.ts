import type { ObjectKey } from "@kubewright/api";

import type { JobReason } from "./job-reason.js";
import type { JobPlan } from "./plan-job.js";
import type { SyncAction } from "./plan-pods.js";

/** The result of one sync of an unfinished Job. */
export interface JobDecision {
  readonly key: ObjectKey;
  readonly uid: string;
  /** When the sync began to decide, in epoch milliseconds. */
  readonly atMs: number;
  readonly action: SyncAction;
  readonly plan: JobPlan;
  /** Reasons in order of importance. */
  readonly reasons: readonly JobReason[];
  /** Number of writes of the Job's status; 0 when nothing had changed. */
  readonly statusWrites: number;
  /** The error of a failed sync, which is retried. */
  readonly error?: unknown;
}
