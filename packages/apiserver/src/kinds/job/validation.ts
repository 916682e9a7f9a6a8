import {
  CONTROLLER_UID_LABEL,
  isConditionTrue,
  JOB_NAME_LABEL,
  type Job,
  type JobSpec,
  labelSelectorMatcher,
  LEGACY_CONTROLLER_UID_LABEL,
  LEGACY_JOB_NAME_LABEL,
  mutableCopy,
  type PodSpec,
  type PodTemplateSpec,
  type VersionBehaviours,
} from "@kubewright/api";
import { dnsLabelErrors } from "@kubewright/api/validation";

import { FieldErrors } from "../../field-errors.js";
import { jsonEqual } from "../../json.js";
import { validateLabelSelector } from "../../validation/label-selector.js";
import { internalForm } from "../internal-form.js";
import { sortedKeys } from "../sorted-keys.js";
import { validateJobSpec } from "./spec-validation.js";

const IMMUTABLE = "field is immutable";
const emptySpec: JobSpec = { template: {} };

/** Upstream: `ValidateJob`, without the metadata rules. */
export function validateJob(job: Job, errors: FieldErrors, requireBatchLabels = true): void {
  const spec = job.spec ?? emptySpec;
  validateGeneratedSelector(job, spec, requireBatchLabels, errors);
  validateJobSpec(spec, "spec", errors);
  if (spec.completionMode !== "Indexed" || spec.completions === undefined || spec.completions <= 0) return;
  const hostname = `${job.metadata.name}-${spec.completions - 1}`;
  if (dnsLabelErrors(hostname).length > 0) {
    const detail = `will not able to create pod with invalid DNS label: ${hostname}`;
    errors.invalid("metadata.name", job.metadata.name, detail);
  }
}

/**
 * Validates an update. The create rules run again, so a spec error is reported twice. Upstream:
 * `jobStrategy.ValidateUpdate`.
 */
export function validateJobUpdate(job: Job, stored: Job, errors: FieldErrors, behaviours: VersionBehaviours): void {
  const spec = job.spec ?? emptySpec;
  const storedSpec = stored.spec ?? emptySpec;
  const storedLabels = storedSpec.template?.metadata?.labels ?? {};
  // Jobs that were created before these labels existed can still be updated.
  const hadBatchLabels =
    Object.hasOwn(storedLabels, CONTROLLER_UID_LABEL) && Object.hasOwn(storedLabels, JOB_NAME_LABEL);
  validateJob(job, errors, hadBatchLabels);
  validateJobSpec(spec, "spec", errors);
  validateCompletionsUpdate(spec, storedSpec, errors);
  validateUnchanged("selector", spec, storedSpec, errors);
  validateTemplateUpdate(spec.template, stored, errors, behaviours);
  for (const field of [
    "completionMode",
    "podFailurePolicy",
    "backoffLimitPerIndex",
    "managedBy",
    "successPolicy",
  ] as const) {
    validateUnchanged(field, spec, storedSpec, errors);
  }
}

function validateGeneratedSelector(
  { metadata }: Job,
  spec: JobSpec,
  requireBatchLabels: boolean,
  errors: FieldErrors,
): void {
  if (spec.manualSelector === true || spec.selector === undefined) return;
  const { name = "", uid = "" } = metadata;
  if (uid === "") errors.required("metadata.uid");
  const expected: Record<string, string> = { [LEGACY_CONTROLLER_UID_LABEL]: uid, [LEGACY_JOB_NAME_LABEL]: name };
  if (requireBatchLabels) {
    expected[CONTROLLER_UID_LABEL] = uid;
    expected[JOB_NAME_LABEL] = name;
  }
  const labels = spec.template?.metadata?.labels ?? {};
  for (const key in expected) {
    const value = expected[key]!;
    if (labels[key] === value) continue;
    const field = `spec.template.metadata.labels[${key}]`;
    if (!Object.hasOwn(labels, key)) errors.required(field, `must be '${value}'`);
    else errors.invalid(field, sortedKeys(labels), `must be '${value}'`);
  }
  // The common case: a generated selector. Other selectors are validated first, because they may have unknown
  // operators.
  if (spec.selector.matchExpressions === undefined && labelSelectorMatcher(spec.selector)(expected)) return;
  const malformed = new FieldErrors();
  validateLabelSelector(spec.selector, "spec.selector", malformed);
  if (malformed.isEmpty && !labelSelectorMatcher(spec.selector)(expected)) {
    errors.invalid("spec.selector", shownSelector(spec.selector), "`selector` not auto-generated");
  }
}

function validateCompletionsUpdate(spec: JobSpec, stored: JobSpec, errors: FieldErrors): void {
  if (spec.completionMode !== "Indexed") validateUnchanged("completions", spec, stored, errors);
  else if (
    spec.completions !== stored.completions &&
    spec.completions !== undefined &&
    spec.completions !== spec.parallelism
  ) {
    errors.invalid("spec.completions", spec.completions, "can only be modified in tandem with spec.parallelism");
  }
}

/**
 * Validates that the template does not change. A suspended Job whose pods have ended, or that never had pods, may
 * change scheduling fields and resources.
 *
 * Upstream: `validatePodTemplateUpdate`, `validationOptionsForJob`.
 */
function validateTemplateUpdate(
  template: PodTemplateSpec | undefined,
  stored: Job,
  errors: FieldErrors,
  behaviours: VersionBehaviours,
): void {
  const storedTemplate = stored.spec?.template ?? {};
  if (jsonEqual(template, storedTemplate)) return;
  const mayChange = {
    scheduling: behaviours.mutableSchedulingDirectivesForSuspendedJobs ? isStopped(stored) : isNotYetStarted(stored),
    resources: behaviours.mutablePodResourcesForSuspendedJobs && isStopped(stored),
  };
  const allowed = withMutableParts(storedTemplate, template ?? {}, mayChange);
  if (jsonEqual(template?.spec, allowed.spec) && (mayChange.scheduling || isSameMetadata(template, storedTemplate)))
    return;
  if (mayChange.resources) errors.invalid("spec.template.spec", internalForm("PodSpec", template?.spec), IMMUTABLE);
  else errors.invalid("spec.template", internalForm("PodTemplateSpec", template), IMMUTABLE);
}

function isSameMetadata(template: PodTemplateSpec | undefined, stored: PodTemplateSpec): boolean {
  return jsonEqual(template?.metadata, stored.metadata);
}

/** Whether the Job is suspended and has no active pods. */
function isStopped({ spec, status }: Job): boolean {
  const stopped = status?.startTime === undefined || isConditionTrue(status.conditions, "Suspended");
  return spec?.suspend === true && stopped && !status?.active;
}

/** Whether the Job is suspended and the controller has not set its start time. */
function isNotYetStarted({ spec, status }: Job): boolean {
  return spec?.suspend === true && status?.startTime === undefined;
}

/** Returns the stored template with the mutable fields of the new template. */
function withMutableParts(
  stored: PodTemplateSpec,
  template: PodTemplateSpec,
  mayChange: { readonly scheduling: boolean; readonly resources: boolean },
): PodTemplateSpec {
  const result: PodTemplateSpec = mutableCopy(stored);
  const spec = template.spec;
  const allowed = result.spec;
  if (spec === undefined || allowed === undefined) return result;
  if (mayChange.scheduling) copySchedulingFields(allowed, spec);
  if (mayChange.resources) copyResources(allowed, spec);
  return result;
}

function copySchedulingFields(allowed: PodSpec, spec: PodSpec): void {
  for (const field of ["nodeSelector", "tolerations", "schedulingGates"] as const) copyField(allowed, spec, field);
  if (spec.affinity !== undefined || allowed.affinity !== undefined) {
    const affinity = (allowed.affinity ??= {});
    copyField(affinity, spec.affinity ?? {}, "nodeAffinity");
    if (spec.affinity === undefined && Object.keys(affinity).length === 0) delete allowed.affinity;
  }
}

function copyResources(allowed: PodSpec, spec: PodSpec): void {
  for (const field of ["containers", "initContainers"] as const) {
    const containers = spec[field] ?? [];
    const allowedContainers = allowed[field] ?? [];
    if (containers.length !== allowedContainers.length) continue;
    for (const [index, container] of containers.entries()) {
      if (allowedContainers[index]!.name === container.name)
        copyField(allowedContainers[index]!, container, "resources");
    }
  }
}

function copyField<T extends object, K extends keyof T>(target: T, source: T, key: K): void {
  if (source[key] === undefined) delete target[key];
  else target[key] = source[key];
}

type ComparedField =
  | "completions"
  | "selector"
  | "completionMode"
  | "podFailurePolicy"
  | "backoffLimitPerIndex"
  | "managedBy"
  | "successPolicy";

function validateUnchanged(field: ComparedField, spec: JobSpec, stored: JobSpec, errors: FieldErrors): void {
  const value = spec[field];
  if (jsonEqual(value, stored[field])) return;
  let shown: unknown = value;
  if (field === "selector") shown = shownSelector(spec.selector);
  else if (field === "podFailurePolicy") shown = internalForm("PodFailurePolicy", value);
  else if (field === "successPolicy") shown = internalForm("SuccessPolicy", value);
  errors.invalid(`spec.${field}`, shown, IMMUTABLE);
}

function shownSelector(selector: JobSpec["selector"]): unknown {
  return selector?.matchLabels === undefined
    ? selector
    : { ...selector, matchLabels: sortedKeys(selector.matchLabels) };
}
