import type { JobObject } from "./job-spec.js";

/** Fields of the spec that are numbers, if they are given. */
const NUMBERS = [
  "parallelism",
  "completions",
  "backoffLimit",
  "backoffLimitPerIndex",
  "maxFailedIndexes",
  "activeDeadlineSeconds",
] as const;

/**
 * Refuses a Job that cannot be read as one. The API server lets none pass; whoever serves it may be older, newer, or
 * something else.
 *
 * @throws Error naming the field, and what it should be.
 */
export function checkJobShape({ spec, status }: JobObject): void {
  const require = (holds: boolean, field: string, shape: string, value: unknown): void => {
    if (holds) return;
    const shown = value === undefined ? "missing" : JSON.stringify(value).slice(0, 100);
    throw new Error(`${field} must be ${shape}, but is ${shown}`);
  };
  require(isRecord(spec), "spec", "an object", spec);
  for (const field of NUMBERS) {
    const value = spec![field];
    require(value == null || Number.isInteger(value), `spec.${field}`, "an integer", value);
  }
  require(isRecord(spec!.template), "spec.template", "an object", spec!.template);
  const requireList = (field: string, value: unknown): void =>
    require(value == null || Array.isArray(value), field, "a list", value);
  if (spec!.podFailurePolicy) requireList("spec.podFailurePolicy.rules", spec!.podFailurePolicy.rules);
  if (spec!.successPolicy) requireList("spec.successPolicy.rules", spec!.successPolicy.rules);
  requireList("status.conditions", status?.conditions);
  requireList("status.uncountedTerminatedPods.succeeded", status?.uncountedTerminatedPods?.succeeded);
  requireList("status.uncountedTerminatedPods.failed", status?.uncountedTerminatedPods?.failed);
}

function isRecord(value: unknown): boolean {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
