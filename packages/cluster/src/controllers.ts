import { CronJobController, type CronJobDecision } from "@kubewright/cronjob";
import type { Runnable } from "@kubewright/controller";
import { JobController, type JobDecision } from "@kubewright/job";

import type { ComponentContext } from "./component-context.js";

/** What the controllers of a cluster decided, as plain data: the simulator explains runs with it. */
export type Decision =
  | { readonly controller: "job-controller"; readonly decision: JobDecision }
  | { readonly controller: "cronjob-controller"; readonly decision: CronJobDecision };

export type ControllerName = Decision["controller"];

/** The controllers a cluster can run, by their upstream names, and how each is made. */
export const clusterControllers: Readonly<Record<ControllerName, (context: ComponentContext) => Runnable>> = {
  "job-controller": ({ onDecision, ...shared }) =>
    new JobController({ ...shared, onDecision: (decision) => onDecision({ controller: "job-controller", decision }) }),
  "cronjob-controller": ({ onDecision, localTimeZone, ...shared }) =>
    new CronJobController({
      ...shared,
      localTimeZone,
      onDecision: (decision) => onDecision({ controller: "cronjob-controller", decision }),
    }),
};
