import type { Job, PodFailurePolicy } from "@kubewright/api";

import { applyPodTemplateDefaults } from "../pod/template-defaults.js";

const MAX_INT32 = 2147483647;

/**
 * Applies defaults to request bodies and patch results.
 *
 * A Job without labels gets its template's labels as *the same object*, as upstream. Labels that are generated later
 * for the template are then the Job's labels too, unless the Job was copied in between (see `prepareJobForCreate`).
 *
 * Upstream: `SetDefaults_Job` in `pkg/apis/batch/v1`.
 */
export function applyJobDefaults(job: Job, stored?: Job): void {
  const { metadata, spec } = job;
  if (spec === undefined) return;
  const templateLabels = spec.template?.metadata?.labels;
  if (templateLabels !== undefined && isEmpty(metadata.labels)) metadata.labels = templateLabels;
  if (spec === stored?.spec) return;
  if (spec.completions === undefined && spec.parallelism === undefined) {
    spec.completions = 1;
    spec.parallelism = 1;
  }
  spec.parallelism ??= 1;
  spec.backoffLimit ??= spec.backoffLimitPerIndex === undefined ? 6 : MAX_INT32;
  spec.completionMode ??= "NonIndexed";
  spec.suspend ??= false;
  spec.podReplacementPolicy ??= spec.podFailurePolicy === undefined ? "TerminatingOrFailed" : "Failed";
  spec.manualSelector ??= false;
  applyPodFailurePolicyDefaults(spec.podFailurePolicy);
  applyPodTemplateDefaults(spec.template);
}

function isEmpty(labels: Readonly<Record<string, string>> = {}): boolean {
  for (const _key in labels) return false;
  return true;
}

/** Applies defaults to a failure policy. Job templates of CronJobs get no other Job-level defaults. */
export function applyPodFailurePolicyDefaults(policy: PodFailurePolicy | undefined): void {
  for (const rule of policy?.rules ?? []) {
    for (const pattern of rule.onPodConditions ?? []) pattern.status ||= "True";
  }
}
