import type { Mutant } from "./mutant.ts";

export const mutant: Mutant = {
  name: "cron-quota-deadlock",
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
};
