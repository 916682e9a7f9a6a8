import type { MutantRows } from "../mutant.ts";

/** Known bugs of the CronJob controller. */
export const CRON_JOB_MUTANTS: MutantRows = {
  "cron-delete-by-name": {
    entry: "1.3",
    sentence:
      "A CronJob deletes Jobs by name without a UID precondition, and may delete another Job that has taken the name.",
    inPlan: [/CronJob/, /"apply":\{"apiVersion":"batch\/v1"/],
    file: "packages/cronjob/src/sync-cron-job.ts",
    find: "const preconditions = uid === undefined ? {} : { preconditions: { uid } };",
    replace: "const preconditions = {};",
  },
  "cron-every-from-now": {
    entry: "#21",
    issue: "kubernetes/kubernetes#104012",
    sentence:
      "The next run of an @every schedule is counted from now instead of from the last run: every sync of the CronJob postpones it.",
    inPlan: [/@every/],
    file: "packages/cronjob/src/schedule-slots.ts",
    find: "const slotMs = recent === undefined ? nextOf(schedule, nowMs) : recent.nextMs;",
    replace: "const slotMs = nextOf(schedule, nowMs);",
  },
  "cron-foreign-job": {
    entry: "1.3",
    sentence: "A CronJob whose next run has the name of a foreign Job sets no timer: it starts nothing more.",
    inPlan: [/CronJob/, /"apply":\{"apiVersion":"batch\/v1","kind":"Job","metadata":\{"name":"cron-/],
    file: "packages/cronjob/src/sync-cron-job.ts",
    find: `this.#reportDecision(nowMs, { ...plan.decision, ...startOutcome });
      return plan.requeueAfterMs;`,
    replace: `this.#reportDecision(nowMs, { ...plan.decision, ...startOutcome });
      return startOutcome?.outcome === "alreadyExists" ? undefined : plan.requeueAfterMs;`,
  },
  "cron-history-unfinished": {
    entry: "3.1",
    sentence: "Unfinished Jobs count for the history limits: finished Jobs are deleted before the limit is reached.",
    inPlan: [/CronJob/],
    file: "packages/cronjob/src/finished-jobs.ts",
    find: "for (const job of jobs) if (finishedCondition(job)?.type === end) count++;",
    replace: "for (const job of jobs) if ((finishedCondition(job)?.type ?? end) === end) count++;",
  },
  "cron-negative-requeue": {
    entry: "#22",
    issue: "kubernetes/kubernetes#121327",
    sentence:
      "Where the search finds none of the missed slots, the next sync is due at the first of them: immediately, in an endless loop.",
    inPlan: [/CronJob/],
    file: "packages/cronjob/src/schedule-slots.ts",
    find: "if (slotMs === undefined) return { earliestMs, missed, nextMs: nextOf(schedule, nowMs) };",
    replace: "if (slotMs === undefined) return { earliestMs, missed, nextMs: firstMs };",
  },
  "cron-quota-deadlock": {
    entry: "#25",
    issue: "kubernetes/kubernetes#119775",
    sentence: "Old Jobs are deleted only after the new one is created: with a full quota neither happens.",
    inPlan: [/CronJob/, /ResourceQuota|whileAtLeast/],
    changes: [
      {
        file: "packages/cronjob/src/sync-cron-job.ts",
        find: `  for (const { metadata } of jobsOverHistoryLimit(jobs, cronJob.spec ?? {})) await sync.deleteJob(metadata);
`,
        replace: "",
      },
      {
        file: "packages/cronjob/src/sync-cron-job.ts",
        find: "requeueAfterMs = await sync.reconcile(jobs, memory);",
        replace: `requeueAfterMs = await sync.reconcile(jobs, memory);
    for (const { metadata } of jobsOverHistoryLimit(jobs, cronJob.spec ?? {})) await sync.deleteJob(metadata);`,
      },
    ],
  },
  "cron-random-job-name": {
    entry: "3.1",
    sentence:
      "Jobs of a CronJob have random names: a controller that crashes before it writes the status starts the same run again.",
    inPlan: [/CronJob/],
    file: "packages/cronjob/src/job-from-template.ts",
    find: 'name: jobNameFor(cronJob.metadata.name ?? "", slotMs),',
    replace: "generateName: `${cronJob.metadata.name}-`,",
  },
  "cron-replace-first-only": {
    entry: "own",
    sentence: "With `Replace` a CronJob deletes one of several active Jobs and no other.",
    inPlan: [/Replace/],
    file: "packages/cronjob/src/plan-cron-job.ts",
    find: 'concurrencyPolicy === "Replace" ? active : []',
    replace: 'concurrencyPolicy === "Replace" ? active.slice(0, 1) : []',
  },
  "cron-too-many-missed": {
    entry: "3.1",
    issue: "kubernetes/kubernetes#42649",
    sentence: "A CronJob that has missed more than 100 runs, and has no deadline, never starts again.",
    inPlan: [/CronJob/, /"suspend"|controllerDown|apiServerDown|clock/],
    file: "packages/cronjob/src/plan-cron-job.ts",
    find: 'if (recent.missed === "many" && recent.slotMs !== undefined) events.push(TOO_MANY_MISSED);',
    replace: `if (recent.missed === "many" && search.startingDeadlineSeconds === undefined)
    return stop(context, "invalidSchedule", TOO_MANY_MISSED.message, [...events, TOO_MANY_MISSED]);`,
  },
};
