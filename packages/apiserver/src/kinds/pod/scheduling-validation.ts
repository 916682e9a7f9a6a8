import type { PodSpec } from "@kubewright/api";

import type { FieldErrors } from "../../field-errors.js";
import { labelKeyErrors, labelValueErrors } from "../../names.js";
import { validateLabelSelector } from "../../validation/label-selector.js";
import { addInvalid } from "../../validation/rules.js";

type Affinity = NonNullable<PodSpec["affinity"]>;
type NodeSelectorTerm = NonNullable<
  NonNullable<Affinity["nodeAffinity"]>["requiredDuringSchedulingIgnoredDuringExecution"]
>["nodeSelectorTerms"][number];
type PodAffinity = NonNullable<Affinity["podAffinity"]>;
type PodAffinityTerm = NonNullable<PodAffinity["requiredDuringSchedulingIgnoredDuringExecution"]>[number];
type TopologySpreadConstraint = NonNullable<PodSpec["topologySpreadConstraints"]>[number];
type Toleration = NonNullable<PodSpec["tolerations"]>[number];

export const TAINT_EFFECTS = ["NoSchedule", "PreferNoSchedule", "NoExecute"];
const REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution";
const PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution";

/** Upstream: `validateAffinity`. */
export function validateAffinity(affinity: Affinity | undefined, path: string, errors: FieldErrors): void {
  if (affinity === undefined) return;
  const { nodeAffinity, podAffinity, podAntiAffinity } = affinity;
  if (nodeAffinity !== undefined) {
    const at = `${path}.nodeAffinity`;
    const required = nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution;
    if (required !== undefined) validateNodeSelector(required, `${at}.${REQUIRED}`, errors);
    for (const [index, { weight, preference }] of (
      nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution ?? []
    ).entries()) {
      validateWeight(weight, `${at}.${PREFERRED}[${index}].weight`, errors);
      validateNodeSelectorTerm(preference, `${at}.${PREFERRED}[${index}].preference`, errors);
    }
  }
  if (podAffinity !== undefined) validatePodAffinity(podAffinity, `${path}.podAffinity`, errors);
  if (podAntiAffinity !== undefined) validatePodAffinity(podAntiAffinity, `${path}.podAntiAffinity`, errors);
}

/** Upstream: `ValidateNodeSelector`. */
export function validateNodeSelector(
  selector: { readonly nodeSelectorTerms?: readonly NodeSelectorTerm[] },
  path: string,
  errors: FieldErrors,
): void {
  const field = `${path}.nodeSelectorTerms`;
  const terms = selector.nodeSelectorTerms ?? [];
  if (terms.length === 0) errors.required(field, "must have at least one node selector term");
  for (const [index, term] of terms.entries()) validateNodeSelectorTerm(term, `${field}[${index}]`, errors);
}

function validatePodAffinity(affinity: PodAffinity, path: string, errors: FieldErrors): void {
  for (const [index, term] of (affinity.requiredDuringSchedulingIgnoredDuringExecution ?? []).entries()) {
    validatePodAffinityTerm(term, `${path}.${REQUIRED}[${index}]`, errors);
  }
  for (const [index, { weight, podAffinityTerm }] of (
    affinity.preferredDuringSchedulingIgnoredDuringExecution ?? []
  ).entries()) {
    validateWeight(weight, `${path}.${PREFERRED}[${index}].weight`, errors);
    validatePodAffinityTerm(podAffinityTerm, `${path}.${PREFERRED}[${index}].podAffinityTerm`, errors);
  }
}

function validatePodAffinityTerm(term: PodAffinityTerm, path: string, errors: FieldErrors): void {
  validateLabelSelector(term.labelSelector, `${path}.labelSelector`, errors);
  validateLabelSelector(term.namespaceSelector, `${path}.namespaceSelector`, errors);
  const topologyKey = term.topologyKey ?? "";
  if (topologyKey === "") errors.required(`${path}.topologyKey`, "can not be empty");
  addInvalid(errors, `${path}.topologyKey`, topologyKey, labelKeyErrors(topologyKey));
}

function validateNodeSelectorTerm(term: NodeSelectorTerm, path: string, errors: FieldErrors): void {
  for (const [index, { key = "", operator, values = [] }] of (term.matchExpressions ?? []).entries()) {
    const at = `${path}.matchExpressions[${index}]`;
    validateOperator(operator, values, at, errors);
    addInvalid(errors, `${at}.key`, key, labelKeyErrors(key));
  }
  for (const [index, { key, operator, values = [] }] of (term.matchFields ?? []).entries()) {
    const at = `${path}.matchFields[${index}]`;
    if (operator !== "In" && operator !== "NotIn")
      errors.invalid(`${at}.operator`, operator, "not a valid selector operator");
    else if (values.length !== 1)
      errors.required(
        `${at}.values`,
        "must be only one value when `operator` is 'In' or 'NotIn' for node field selector",
      );
    if (key !== "metadata.name") errors.invalid(`${at}.key`, key, "not a valid field selector key");
  }
}

function validateOperator(operator: string, values: readonly string[], path: string, errors: FieldErrors): void {
  if (operator === "In" || operator === "NotIn") {
    if (values.length === 0) errors.required(`${path}.values`, "must be specified when `operator` is 'In' or 'NotIn'");
  } else if (operator === "Exists" || operator === "DoesNotExist") {
    if (values.length > 0)
      errors.forbidden(`${path}.values`, "may not be specified when `operator` is 'Exists' or 'DoesNotExist'");
  } else if (operator === "Gt" || operator === "Lt") {
    if (values.length !== 1)
      errors.required(`${path}.values`, "must be specified single value when `operator` is 'Lt' or 'Gt'");
  } else errors.invalid(`${path}.operator`, operator, "not a valid selector operator");
}

function validateWeight(weight: number, field: string, errors: FieldErrors): void {
  if (weight < 1 || weight > 100) errors.invalid(field, weight, "must be in the range 1-100");
}

/** Upstream: `validateTopologySpreadConstraints`. */
export function validateTopologySpreadConstraints(
  constraints: readonly TopologySpreadConstraint[],
  path: string,
  errors: FieldErrors,
): void {
  const seen = new Set<string>();
  for (const [index, { maxSkew = 0, topologyKey = "", whenUnsatisfiable, labelSelector }] of constraints.entries()) {
    const at = `${path}[${index}]`;
    if (maxSkew <= 0) errors.invalid(`${at}.maxSkew`, maxSkew, "must be greater than zero");
    if (topologyKey === "") errors.required(`${at}.topologyKey`, "can not be empty");
    else addInvalid(errors, `${at}.topologyKey`, topologyKey, labelKeyErrors(topologyKey));
    if (whenUnsatisfiable !== "DoNotSchedule" && whenUnsatisfiable !== "ScheduleAnyway") {
      errors.notSupported(`${at}.whenUnsatisfiable`, whenUnsatisfiable ?? "", ["DoNotSchedule", "ScheduleAnyway"]);
    }
    const pair = `{${topologyKey}, ${whenUnsatisfiable}}`;
    if (seen.has(pair)) errors.duplicate(`${at}.{topologyKey, whenUnsatisfiable}`, pair);
    seen.add(pair);
    validateLabelSelector(labelSelector, `${at}.labelSelector`, errors);
  }
}

/** Upstream: `ValidateTolerations`. */
export function validateTolerations(tolerations: readonly Toleration[], path: string, errors: FieldErrors): void {
  for (const [
    index,
    { key = "", operator = "", value = "", effect = "", tolerationSeconds },
  ] of tolerations.entries()) {
    const at = `${path}[${index}]`;
    if (key !== "") addInvalid(errors, `${at}.key`, key, labelKeyErrors(key));
    else if (operator !== "Exists") {
      const detail = 'operator must be Exists when `key` is empty, which means "match all values and all keys"';
      errors.invalid(`${at}.operator`, operator, detail);
    }
    if (tolerationSeconds !== undefined && effect !== "NoExecute") {
      errors.invalid(`${at}.effect`, effect, "effect must be 'NoExecute' when `tolerationSeconds` is set");
    }
    if (operator === "Equal" || operator === "") {
      const sentences = labelValueErrors(value);
      if (sentences.length > 0) errors.invalid(`${at}.operator`, value, sentences.join(";"));
    } else if (operator === "Exists") {
      if (value !== "") errors.invalid(`${at}.operator`, value, "value must be empty when `operator` is 'Exists'");
    } else errors.notSupported(`${at}.operator`, operator, ["Equal", "Exists"]);
    if (effect !== "" && !TAINT_EFFECTS.includes(effect)) errors.notSupported(`${at}.effect`, effect, TAINT_EFFECTS);
  }
}
