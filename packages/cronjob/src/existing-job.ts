import { type CronJob, type DeepReadonly, type Job, getControllerOf } from "@kubewright/api";

import { isListed } from "./cron-job-draft.js";
import type { CronJobOutcome, CronJobReason } from "./decision.js";

/** What a start came to, where it did not create a Job. */
export interface StartOutcome {
  readonly outcome: CronJobOutcome;
  readonly reason: CronJobReason;
  readonly message: string;
}

/**
 * What a start comes to when there is a Job of that name: only the CronJob's own Job that it does not list is taken on. In
 * the other cases nothing is started for this slot, and the next one is waited for. Upstream sets no timer then: the CronJob
 * starts nothing any more until some event of it or its Jobs comes.
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
