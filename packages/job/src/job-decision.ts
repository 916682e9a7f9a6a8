import type { ObjectKey } from "@kubewright/api";

import type { JobReason } from "./job-reason.js";
import type { JobPlan } from "./plan-job.js";
import type { SyncAction } from "./plan-pods.js";

/** One sync of a Job that is not finished, after the fact. */
export interface JobDecision {
  readonly key: ObjectKey;
  readonly uid: string;
  /** When the sync began to decide, in epoch milliseconds. */
  readonly atMs: number;
  readonly action: SyncAction;
  readonly plan: JobPlan;
  /** Why, in the order in which it mattered. */
  readonly reasons: readonly JobReason[];
  /** Writes of the Job's status: 0 when nothing had changed. */
  readonly statusWrites: number;
  /** What made the sync fail: it is tried again. */
  readonly error?: unknown;
}
