import type { CronJob } from "@kubewright/api";

import { applyPodFailurePolicyDefaults } from "../job/defaults.js";
import { applyPodTemplateDefaults } from "../pod/template-defaults.js";

/**
 * Applies defaults. The Job template gets no Job-level defaults; its Jobs get them on create. Upstream:
 * `SetDefaults_CronJob`.
 */
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
