import { type CronJob, type DeepReadonly, type Job, getControllerOf } from "@kubewright/api";

import { isListed } from "./cron-job-draft.js";
import type { CronJobOutcome, CronJobReason } from "./decision.js";

/** Outcome of a start that created no Job. */
export interface StartOutcome {
  readonly outcome: CronJobOutcome;
  readonly reason: CronJobReason;
  readonly message: string;
}

/**
 * Returns the outcome when a Job of that name exists. The CronJob lists an unlisted Job that it controls. In the other
 * cases nothing is started for this slot, and the timer waits for the next one. Upstream sets no timer then: the
 * CronJob starts nothing until an event of it or its Jobs arrives.
 *
 * @see kubernetes v1.36 pkg/controller/cronjob/cronjob_controllerv2.go syncCronJob
 */
export function existingJobOutcome(cronJob: DeepReadonly<CronJob>, job: DeepReadonly<Job>): StartOutcome {
  const { name = "", uid } = job.metadata;
  if (getControllerOf(job)?.uid !== cronJob.metadata.uid) {
    return {
      outcome: "alreadyExists",
      reason: "ownedByAnother",
      message: `job ${name} exists and is not controlled by this CronJob`,
    };
  }
  if (isListed(cronJob, uid)) {
    return { outcome: "alreadyExists", reason: "alreadyListed", message: `job ${name} exists and is listed as active` };
  }
  return { outcome: "adopted", reason: "due", message: `job ${name} exists and is listed as active again` };
}
