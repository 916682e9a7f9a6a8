import type { Mutant } from "./mutant.ts";

export const mutant: Mutant = {
  name: "cron-too-many-missed",
  entry: "3.1",
  issue: "kubernetes/kubernetes#42649",
  sentence: "A CronJob that has missed more than 100 runs, and has no deadline, never starts again.",
  inPlan: [/CronJob/, /"suspend"|controllerDown|apiServerDown|clock/],
  changes: [
    {
      file: "packages/cronjob/src/plan-cron-job.ts",
      find: 'if (recent.missed === "many" && recent.slotMs !== undefined) events.push(TOO_MANY_MISSED);',
      replace: `if (recent.missed === "many" && search.startingDeadlineSeconds === undefined)
    return stop(context, "invalidSchedule", TOO_MANY_MISSED.message, [...events, TOO_MANY_MISSED]);`,
    },
  ],
};
