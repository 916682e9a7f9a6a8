import { type LabelSelector, labelSelectorMatcher, type PodTemplateSpec } from "@kubewright/api";

import { FieldErrors } from "../../field-errors.js";
import { jsonEqual } from "../../json.js";
import { validateLabelSelector } from "../../validation/label-selector.js";
import { FIELD_IS_IMMUTABLE, validateNonNegative } from "../../validation/rules.js";
import { validatePodTemplate } from "../pod/template-validation.js";
import { sortedKeys } from "../sorted-keys.js";

/**
 * Validates the selector of a Deployment, ReplicaSet or StatefulSet, and that it matches the template's labels.
 *
 * @param kind - The kind in the error about an empty selector.
 */
export function validateSelectorAndTemplate(
  spec: { readonly selector?: LabelSelector | undefined; readonly template?: PodTemplateSpec | undefined },
  kind: string,
  errors: FieldErrors,
  validateTemplate: (template: PodTemplateSpec) => void,
): void {
  const { selector, template = {} } = spec;
  const malformed = new FieldErrors();
  if (selector === undefined) errors.required("spec.selector");
  else {
    validateLabelSelector(selector, "spec.selector", malformed);
    for (const error of malformed.all) errors.add(error);
    validateNotEmpty(selector, kind, errors);
  }
  if (!malformed.isEmpty) {
    errors.invalid("spec.selector", shownSelector(selector), kind === "statefulset" ? "" : "invalid label selector");
    return;
  }
  validateMatch(selector, template, errors);
  validateTemplate(template);
}

export function validateNotEmpty(selector: LabelSelector, kind: string, errors: FieldErrors): void {
  if (isEmpty(selector)) errors.invalid("spec.selector", {}, `empty selector is invalid for ${kind}`);
}

function isEmpty({ matchLabels = {}, matchExpressions = [] }: LabelSelector): boolean {
  return Object.keys(matchLabels).length === 0 && matchExpressions.length === 0;
}

export function validateMatch(
  selector: LabelSelector | undefined,
  template: PodTemplateSpec,
  errors: FieldErrors,
): void {
  const labels = template.metadata?.labels;
  if (labelSelectorMatcher(selector)(labels)) return;
  errors.invalid("spec.template.metadata.labels", sortedKeys(labels), "`selector` does not match template `labels`");
}

/**
 * Validates a template whose pods are replaced when they end: restartPolicy `Always` and no deadline.
 *
 * @param kind - The kind in the error about a deadline.
 */
export function validateLongRunningTemplate(template: PodTemplateSpec, kind: string, errors: FieldErrors): void {
  const { spec } = template;
  validatePodTemplate(template, "spec.template", errors);
  const restartPolicy = spec?.restartPolicy ?? "Always";
  if (restartPolicy !== "Always") errors.notSupported("spec.template.spec.restartPolicy", restartPolicy, ["Always"]);
  if (spec?.activeDeadlineSeconds !== undefined)
    errors.forbidden("spec.template.spec.activeDeadlineSeconds", `activeDeadlineSeconds in ${kind} is not Supported`);
}

export function validateSelectorUnchanged<T extends { readonly spec?: { readonly selector?: LabelSelector } }>(
  { spec }: T,
  stored: T,
  errors: FieldErrors,
): void {
  if (!jsonEqual(spec?.selector, stored.spec?.selector))
    errors.invalid("spec.selector", shownSelector(spec?.selector), FIELD_IS_IMMUTABLE);
}

function shownSelector(selector: LabelSelector | undefined): unknown {
  return selector?.matchLabels === undefined
    ? selector
    : { ...selector, matchLabels: sortedKeys(selector.matchLabels) };
}

/** Validates that counts of a status are not negative, in the given order. */
export function validateCounts<T extends object>(
  status: T,
  fields: readonly (keyof T & string)[],
  errors: FieldErrors,
): void {
  for (const field of fields) validateNonNegative(status[field] as number | undefined, `status.${field}`, errors);
}

/** Validates that no count exceeds `replicas`, and that available replicas do not exceed ready replicas. */
export function validateReplicaCounts<
  T extends { replicas?: number; readyReplicas?: number; availableReplicas?: number },
>(status: T, fields: readonly (keyof T & string)[], readyName: string, errors: FieldErrors): void {
  const { replicas = 0, readyReplicas = 0, availableReplicas = 0 } = status;
  for (const field of fields) {
    const count = (status[field] as number | undefined) ?? 0;
    if (count > replicas) errors.invalid(`status.${field}`, count, "cannot be greater than status.replicas");
  }
  if (availableReplicas > readyReplicas)
    errors.invalid("status.availableReplicas", availableReplicas, `cannot be greater than ${readyName}`);
}

/** Validates that the collision count does not decrease. The controller uses the count to generate unique names. */
export function validateCollisionCount(
  status: { readonly collisionCount?: number } = {},
  stored: { readonly collisionCount?: number } = {},
  errors: FieldErrors,
): void {
  if (stored.collisionCount === undefined || (status.collisionCount ?? -1) >= stored.collisionCount) return;
  errors.invalid("status.collisionCount", status.collisionCount ?? 0, "cannot be decremented");
}
