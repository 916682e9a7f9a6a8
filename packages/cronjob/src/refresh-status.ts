import {
  type CronJob,
  type DeepReadonly,
  type FinishedCondition,
  type Job,
  type JobCondition,
  compareTimes,
  finishedCondition,
  isConditionTrue,
} from "@kubewright/api";

import type { CronJobDraft } from "./cron-job-draft.js";

export type ActiveReference = NonNullable<NonNullable<DeepReadonly<CronJob>["status"]>["active"]>[number];

/** The relation of a Job to the CronJob that controls it. */
export type JobRelation =
  /** The Job has finished and was listed as active. */
  | { readonly type: "completed"; readonly condition: FinishedCondition<DeepReadonly<JobCondition>> }
  /** The Job is unfinished and not listed: created manually, or lost. */
  | { readonly type: "unlisted" }
  | { readonly type: "known" };

const UNLISTED: JobRelation = { type: "unlisted" };
const KNOWN: JobRelation = { type: "known" };

/**
 * Updates the status for one Job: removes a finished Job from the active list, and records its success.
 *
 * @see kubernetes v1.36 pkg/controller/cronjob/cronjob_controllerv2.go syncCronJob
 */
export function refreshWithJob(draft: CronJobDraft, job: DeepReadonly<Job>): JobRelation {
  const { uid } = job.metadata;
  const condition = finishedCondition(job);
  const active = draft.isActive(uid);
  if (condition === undefined) return active ? KNOWN : UNLISTED;
  if (active) {
    draft.removeActive(uid);
    draft.changed = true;
  }
  if (isConditionTrue(job.status?.conditions, "Complete")) recordSuccess(draft, job.status?.completionTime);
  return active ? { type: "completed", condition } : KNOWN;
}

/** Returns the references in `status.active` that match none of the Jobs. */
export function referencesWithoutJob(
  draft: CronJobDraft,
  jobs: readonly DeepReadonly<Job>[],
): readonly ActiveReference[] {
  const { active = [] } = draft.cronJob.status ?? {};
  if (active.length === 0) return active;
  const uids = new Set<string | undefined>();
  for (const { metadata } of jobs) uids.add(metadata.uid);
  return active.filter(({ uid }) => !uids.has(uid));
}

/** Removes the reference to a missing Job from `status.active`. */
export function removeReference(draft: CronJobDraft, { uid }: ActiveReference): void {
  draft.removeActive(uid);
  draft.changed = true;
}

function recordSuccess(draft: CronJobDraft, completionTime: string | undefined): void {
  const last = draft.cronJob.status?.lastSuccessfulTime;
  if (!last || (completionTime !== undefined && compareTimes(completionTime, last) > 0))
    draft.setLastSuccessfulTime(completionTime);
}
