import type { CronJob } from "@kubewright/api";

import { applyPodFailurePolicyDefaults } from "../job/defaults.js";
import { applyPodTemplateDefaults } from "../pod/template-defaults.js";

/** A Job template has no job-level defaults: its Jobs get them when they are made. Upstream: `SetDefaults_CronJob`. */
export function applyCronJobDefaults({ spec }: CronJob, stored?: CronJob): void {
  if (spec === undefined || spec === stored?.spec) return;
  spec.concurrencyPolicy ||= "Allow";
  spec.suspend ??= false;
  spec.successfulJobsHistoryLimit ??= 3;
  spec.failedJobsHistoryLimit ??= 1;
  const jobSpec = spec.jobTemplate?.spec;
  applyPodFailurePolicyDefaults(jobSpec?.podFailurePolicy);
  applyPodTemplateDefaults(jobSpec?.template);
}
