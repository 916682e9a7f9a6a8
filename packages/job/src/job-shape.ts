import type { JobObject } from "./job-spec.js";

/**
 * Checks the structure of a Job. The API server rejects malformed Jobs, but the server may be older, newer, or not
 * Kubernetes.
 *
 * @throws Error that names the field and its required type.
 */
export function checkJobShape({ spec, status }: JobObject): void {
  requireObject("spec", spec);
  requireInteger("spec.parallelism", spec!.parallelism);
  requireInteger("spec.completions", spec!.completions);
  requireInteger("spec.backoffLimit", spec!.backoffLimit);
  requireInteger("spec.backoffLimitPerIndex", spec!.backoffLimitPerIndex);
  requireInteger("spec.maxFailedIndexes", spec!.maxFailedIndexes);
  requireInteger("spec.activeDeadlineSeconds", spec!.activeDeadlineSeconds);
  requireObject("spec.template", spec!.template);
  if (spec!.podFailurePolicy) requireList("spec.podFailurePolicy.rules", spec!.podFailurePolicy.rules);
  if (spec!.successPolicy) requireList("spec.successPolicy.rules", spec!.successPolicy.rules);
  requireList("status.conditions", status?.conditions);
  requireList("status.uncountedTerminatedPods.succeeded", status?.uncountedTerminatedPods?.succeeded);
  requireList("status.uncountedTerminatedPods.failed", status?.uncountedTerminatedPods?.failed);
}

function requireObject(field: string, value: unknown): void {
  if (typeof value !== "object" || value === null || Array.isArray(value))
    throw invalidField(field, "an object", value);
}

function requireInteger(field: string, value: unknown): void {
  if (value != null && !Number.isInteger(value)) throw invalidField(field, "an integer", value);
}

function requireList(field: string, value: unknown): void {
  if (value != null && !Array.isArray(value)) throw invalidField(field, "a list", value);
}

function invalidField(field: string, shape: string, value: unknown): Error {
  const shown = value === undefined ? "missing" : JSON.stringify(value).slice(0, 100);
  return new Error(`${field} must be ${shape}, but is ${shown}`);
}
