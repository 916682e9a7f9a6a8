import { type JobSpec, labelSelectorMatcher } from "@kubewright/api";
import { byteLength } from "@kubewright/api/validation";

import { FieldErrors } from "../../field-errors.js";
import { validateLabelSelector } from "../../validation/label-selector.js";
import { validateDomainPrefixedPath } from "../../validation/domain-prefixed-path.js";
import { validateNonNegative } from "../../validation/rules.js";
import { internalForm } from "../internal-form.js";
import { sortedKeys } from "../sorted-keys.js";
import { validatePodTemplate } from "../pod/template-validation.js";
import { validatePodFailurePolicy } from "./pod-failure-policy-validation.js";
import { validateSuccessPolicy } from "./success-policy-validation.js";

/** Upstream: constants of `pkg/apis/batch/validation`. */
const MAX_PARALLELISM_INDEXED = 100_000;
const MAX_FAILED_INDEXES = 100_000;
const COMPLETIONS_SOFT_LIMIT = 100_000;
const PARALLELISM_ABOVE_SOFT_LIMIT = 10_000;
const FAILED_INDEXES_ABOVE_SOFT_LIMIT = 10_000;
const MAX_MANAGED_BY_BYTES = 63;

/** Validates the spec of a Job. Upstream: `ValidateJobSpec`. */
export function validateJobSpec(spec: JobSpec, path: string, errors: FieldErrors): void {
  validateJobTemplateSpec(spec, path, errors);
  const selectorErrors = new FieldErrors();
  if (spec.selector === undefined) errors.required(`${path}.selector`);
  else validateLabelSelector(spec.selector, `${path}.selector`, selectorErrors);
  for (const error of selectorErrors.all) errors.add(error);
  if (!selectorErrors.isEmpty) return;
  const labels = spec.template?.metadata?.labels;
  if (!labelSelectorMatcher(spec.selector)(labels)) {
    errors.invalid(
      `${path}.template.metadata.labels`,
      sortedKeys(labels),
      "`selector` does not match template `labels`",
    );
  }
}

/** Validates the rules that also apply to the Job template of a CronJob. Upstream: `validateJobSpec`. */
export function validateJobTemplateSpec(spec: JobSpec, path: string, errors: FieldErrors): void {
  for (const field of [
    "parallelism",
    "completions",
    "activeDeadlineSeconds",
    "backoffLimit",
    "ttlSecondsAfterFinished",
  ] as const) {
    validateNonNegative(spec[field], `${path}.${field}`, errors);
  }
  validateNonNegative(spec.backoffLimitPerIndex, `${path}.backoffLimitPerIndex`, errors);
  if (spec.maxFailedIndexes !== undefined) {
    validateNonNegative(spec.maxFailedIndexes, `${path}.maxFailedIndexes`, errors);
    if (spec.backoffLimitPerIndex === undefined) {
      errors.required(`${path}.backoffLimitPerIndex`, "when maxFailedIndexes is specified");
    }
  }
  if (spec.managedBy !== undefined) validateManagedBy(spec.managedBy, `${path}.managedBy`, errors);
  validateCompletionMode(spec, path, errors);
  if (spec.podFailurePolicy !== undefined) {
    validatePodFailurePolicy(spec.podFailurePolicy, spec, `${path}.podFailurePolicy`, errors);
  }
  if (spec.successPolicy !== undefined) {
    if (spec.completionMode !== "Indexed") {
      const policy = internalForm("SuccessPolicy", spec.successPolicy);
      errors.invalid(`${path}.successPolicy`, policy, "requires indexed completion mode");
    } else validateSuccessPolicy(spec.successPolicy, spec.completions, `${path}.successPolicy`, errors);
  }
  validatePodReplacementPolicy(spec, `${path}.podReplacementPolicy`, errors);
  validatePodTemplate(spec.template, `${path}.template`, errors);
  validateRestartPolicy(spec, `${path}.template.spec.restartPolicy`, errors);
}

function validateCompletionMode(spec: JobSpec, path: string, errors: FieldErrors): void {
  const { completionMode = "NonIndexed", completions, parallelism, maxFailedIndexes, backoffLimitPerIndex } = spec;
  if (completionMode !== "NonIndexed" && completionMode !== "Indexed") {
    errors.notSupported(`${path}.completionMode`, completionMode, ["NonIndexed", "Indexed"]);
  }
  if (completionMode === "NonIndexed") {
    const detail = "requires indexed completion mode";
    if (backoffLimitPerIndex !== undefined)
      errors.invalid(`${path}.backoffLimitPerIndex`, backoffLimitPerIndex, detail);
    if (maxFailedIndexes !== undefined) errors.invalid(`${path}.maxFailedIndexes`, maxFailedIndexes, detail);
  }
  if (completionMode !== "Indexed") return;
  if (completions === undefined) errors.required(`${path}.completions`, "when completion mode is Indexed");
  if (parallelism !== undefined && parallelism > MAX_PARALLELISM_INDEXED) {
    const detail = `must be less than or equal to ${MAX_PARALLELISM_INDEXED} when completion mode is Indexed`;
    errors.invalid(`${path}.parallelism`, parallelism, detail);
  }
  if (completions !== undefined && maxFailedIndexes !== undefined && maxFailedIndexes > completions) {
    errors.invalid(`${path}.maxFailedIndexes`, maxFailedIndexes, "must be less than or equal to completions");
  }
  if (maxFailedIndexes !== undefined && maxFailedIndexes > MAX_FAILED_INDEXES) {
    errors.invalid(`${path}.maxFailedIndexes`, maxFailedIndexes, `must be less than or equal to ${MAX_FAILED_INDEXES}`);
  }
  if (completions === undefined || completions <= COMPLETIONS_SOFT_LIMIT || backoffLimitPerIndex === undefined) return;
  const where = `when completions are above ${COMPLETIONS_SOFT_LIMIT} and used with backoff limit per index`;
  if (maxFailedIndexes === undefined) {
    errors.required(
      `${path}.maxFailedIndexes`,
      `must be specified when completions is above ${COMPLETIONS_SOFT_LIMIT}`,
    );
  }
  if (parallelism !== undefined && parallelism > PARALLELISM_ABOVE_SOFT_LIMIT) {
    errors.invalid(
      `${path}.parallelism`,
      parallelism,
      `must be less than or equal to ${PARALLELISM_ABOVE_SOFT_LIMIT} ${where}`,
    );
  }
  if (maxFailedIndexes !== undefined && maxFailedIndexes > FAILED_INDEXES_ABOVE_SOFT_LIMIT) {
    const detail = `must be less than or equal to ${FAILED_INDEXES_ABOVE_SOFT_LIMIT} ${where}`;
    errors.invalid(`${path}.maxFailedIndexes`, maxFailedIndexes, detail);
  }
}

function validateManagedBy(managedBy: string, field: string, errors: FieldErrors): void {
  validateDomainPrefixedPath(managedBy, field, errors);
  if (byteLength(managedBy) > MAX_MANAGED_BY_BYTES) errors.tooLong(field, MAX_MANAGED_BY_BYTES);
}

function validatePodReplacementPolicy(
  { podReplacementPolicy, podFailurePolicy }: JobSpec,
  field: string,
  errors: FieldErrors,
): void {
  if (podReplacementPolicy === undefined) return;
  const supported = podFailurePolicy === undefined ? ["Failed", "TerminatingOrFailed"] : ["Failed"];
  if (!supported.includes(podReplacementPolicy)) errors.notSupported(field, podReplacementPolicy, supported);
}

function validateRestartPolicy({ template, podFailurePolicy }: JobSpec, field: string, errors: FieldErrors): void {
  const restartPolicy = template?.spec?.restartPolicy ?? "";
  if (restartPolicy === "Always" || restartPolicy === "") {
    // `Always` is the default of pod templates, but a Job does not support it.
    errors.required(field, 'valid values: "OnFailure", "Never"');
  } else if (restartPolicy !== "OnFailure" && restartPolicy !== "Never") {
    errors.notSupported(field, restartPolicy, ["OnFailure", "Never"]);
  } else if (podFailurePolicy !== undefined && restartPolicy !== "Never") {
    errors.invalid(field, restartPolicy, 'only "Never" is supported when podFailurePolicy is specified');
  }
}
