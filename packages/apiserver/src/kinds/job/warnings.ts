import type { Job, JobSpec } from "@kubewright/api";
import { dnsLabelErrors } from "@kubewright/api/validation";

import { podTemplateWarnings } from "../pod/warnings.js";

/** Returns a warning for a Job or CronJob whose name is not a DNS label. Pod names start with it. */
export function podNamePrefixWarnings(name: string): string[] {
  const sentences = dnsLabelErrors(name);
  if (sentences.length === 0) return [];
  return [
    `metadata.name: this is used in Pod names and hostnames, which can result in surprising behavior; a DNS label is recommended: [${sentences.join(" ")}]`,
  ];
}

/** Upstream: `WarningsForJobSpec` in `pkg/api/job`. */
export function jobSpecWarnings(spec: JobSpec | undefined, path: string): string[] {
  if (spec === undefined) return [];
  const warnings: string[] = [];
  if (spec.completionMode === "Indexed" && (spec.completions ?? 0) > 100_000 && (spec.parallelism ?? 0) > 10_000) {
    warnings.push(
      "spec: In Indexed Jobs with a number of completions higher than 10^5 and a parallelism higher than 10^4, Kubernetes might not be able to track completedIndexes when a big number of indexes fail",
    );
  }
  warnings.push(...podTemplateWarnings(spec.template, `${path}.template`));
  return warnings;
}

export function jobWarnings({ metadata, spec }: Job): string[] {
  return [...podNamePrefixWarnings(metadata.name ?? ""), ...jobSpecWarnings(spec, "spec")];
}
