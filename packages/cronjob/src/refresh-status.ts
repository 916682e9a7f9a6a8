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

/** What a Job is to the CronJob that controls it. */
export type JobRelation =
  /** It has finished, and was listed as active. */
  | { readonly type: "completed"; readonly condition: FinishedCondition<DeepReadonly<JobCondition>> }
  /** It has not finished, and is not listed: made by hand, or forgotten. */
  | { readonly type: "unlisted" }
  | { readonly type: "known" };

const UNLISTED: JobRelation = { type: "unlisted" };
const KNOWN: JobRelation = { type: "known" };

/**
 * Brings the status up to date with one Job: one that has finished is listed no more, and its success is noted.
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

/** What is listed as active, though none of the Jobs is it. */
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

/** The Job that is listed is gone. */
export function removeReference(draft: CronJobDraft, { uid }: ActiveReference): void {
  draft.removeActive(uid);
  draft.changed = true;
}

function recordSuccess(draft: CronJobDraft, completionTime: string | undefined): void {
  const last = draft.cronJob.status?.lastSuccessfulTime;
  if (!last || (completionTime !== undefined && compareTimes(completionTime, last) > 0))
    draft.setLastSuccessfulTime(completionTime);
}
