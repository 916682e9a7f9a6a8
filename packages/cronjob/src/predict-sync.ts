import { type CronJob, type DeepReadonly, type Job, getControllerOf } from "@kubewright/api";

import { CronJobDraft } from "./cron-job-draft.js";
import { type StartOutcome, existingJobOutcome } from "./existing-job.js";
import { jobsOverHistoryLimit } from "./finished-jobs.js";
import { type CronJobPlan, type PlanContext, planCronJob } from "./plan-cron-job.js";
import { referencesWithoutJob, removeReference, refreshWithJob } from "./refresh-status.js";

/** What a sync would do, computed without requests or changes. */
export interface PredictedCronJobSync {
  /** The CronJob with the status that the sync would compute first. */
  readonly cronJob: DeepReadonly<CronJob>;
  /** Jobs whose controllerRef has the CronJob's name, as the sync finds them. */
  readonly jobs: readonly DeepReadonly<Job>[];
  /** Finished Jobs over the history limits, to be deleted. */
  readonly deletes: readonly DeepReadonly<Job>[];
  /** Finished Jobs that `status.active` still lists. */
  readonly completed: readonly DeepReadonly<Job>[];
  /** Names in `status.active` whose Job does not exist. */
  readonly missing: readonly string[];
  /** Unfinished Jobs that `status.active` does not list: created manually, or lost. They block nothing. */
  readonly unexpected: readonly DeepReadonly<Job>[];
  readonly plan: CronJobPlan;
  /** Outcome of the start when the plan starts a Job whose name is in use. */
  readonly existing?: StartOutcome;
}

/**
 * Computes what a sync of the CronJob would do now. It assumes that the given Jobs are all Jobs of the namespace, and
 * that every request succeeds. It runs the steps of `syncCronJob` in the same order with the same functions.
 */
export function predictCronJobSync(
  stored: DeepReadonly<CronJob>,
  jobsOfNamespace: readonly DeepReadonly<Job>[],
  context: PlanContext,
): PredictedCronJobSync {
  const { name, namespace } = stored.metadata;
  const jobs = jobsOfNamespace.filter((job) => getControllerOf(job)?.name === name);
  const draft = new CronJobDraft(stored);
  const { successfulJobsHistoryLimit, failedJobsHistoryLimit } = stored.spec ?? {};
  const deletes = jobsOverHistoryLimit(jobs, { successfulJobsHistoryLimit, failedJobsHistoryLimit });
  const completed: DeepReadonly<Job>[] = [];
  const unexpected: DeepReadonly<Job>[] = [];
  for (const job of deletes) draft.removeActive(job.metadata.uid);
  for (const job of jobs) {
    const { type } = refreshWithJob(draft, job);
    if (type === "unlisted") unexpected.push(job);
    else if (type === "completed") completed.push(job);
  }
  const named = new Map(jobsOfNamespace.map((job) => [`${job.metadata.namespace}/${job.metadata.name}`, job]));
  const missing = referencesWithoutJob(draft, jobs).filter(
    ({ namespace, name, uid }) => named.get(`${namespace}/${name}`)?.metadata.uid !== uid,
  );
  for (const reference of missing) removeReference(draft, reference);
  const plan = planCronJob(draft.cronJob, context);
  const existing = plan.start && named.get(`${namespace}/${plan.start.job.metadata.name}`);
  return {
    cronJob: draft.cronJob,
    jobs,
    deletes,
    completed,
    missing: missing.map(({ name = "" }) => name),
    unexpected,
    plan,
    ...(existing === undefined ? {} : { existing: existingJobOutcome(draft.cronJob, existing) }),
  };
}
