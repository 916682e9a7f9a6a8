import type { Mutant } from "./mutant.ts";

export const mutant: Mutant = {
  name: "cron-foreign-job",
  entry: "1.3",
  sentence: "A CronJob whose next run has the name of a foreign Job sets no timer: it starts nothing more.",
  inPlan: [/CronJob/, /"apply":\{"apiVersion":"batch\/v1","kind":"Job","metadata":\{"name":"cron-/],
  changes: [
    {
      file: "packages/cronjob/src/sync-cron-job.ts",
      find: `this.#reportDecision(nowMs, { ...plan.decision, ...startOutcome });
      return plan.requeueAfterMs;`,
      replace: `this.#reportDecision(nowMs, { ...plan.decision, ...startOutcome });
      return startOutcome?.outcome === "alreadyExists" ? undefined : plan.requeueAfterMs;`,
    },
  ],
};
