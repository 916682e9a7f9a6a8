import type { LabelSelector, PodSpec } from "@kubewright/api";
import { dnsLabelErrors, dnsSubdomainErrors, labelKeyErrors, labelValueErrors } from "@kubewright/api/validation";

import type { FieldErrors } from "../../field-errors.js";
import { validateLabelSelector } from "../../validation/label-selector.js";
import { addInvalid, validateSupported } from "../../validation/rules.js";

type Affinity = NonNullable<PodSpec["affinity"]>;
type NodeSelectorTerm = NonNullable<
  NonNullable<Affinity["nodeAffinity"]>["requiredDuringSchedulingIgnoredDuringExecution"]
>["nodeSelectorTerms"][number];
type PodAffinity = NonNullable<Affinity["podAffinity"]>;
type PodAffinityTerm = NonNullable<PodAffinity["requiredDuringSchedulingIgnoredDuringExecution"]>[number];
type TopologySpreadConstraint = NonNullable<PodSpec["topologySpreadConstraints"]>[number];
type Toleration = NonNullable<PodSpec["tolerations"]>[number];

export const TAINT_EFFECTS = ["NoSchedule", "PreferNoSchedule", "NoExecute"];
const SPREAD_ACTIONS = ["DoNotSchedule", "ScheduleAnyway"];
const NODE_POLICIES = ["Honor", "Ignore"];
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
      validateNodeSelectorTerm(preference, false, `${at}.${PREFERRED}[${index}].preference`, errors);
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
  for (const [index, term] of terms.entries()) validateNodeSelectorTerm(term, true, `${field}[${index}]`, errors);
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
  for (const namespace of term.namespaces ?? [])
    addInvalid(errors, `${path}.namespace`, namespace, dnsLabelErrors(namespace));
  validateLabelKeys(term, path, errors);
  const topologyKey = term.topologyKey ?? "";
  if (topologyKey === "") errors.required(`${path}.topologyKey`, "can not be empty");
  addInvalid(errors, `${path}.topologyKey`, topologyKey, labelKeyErrors(topologyKey));
}

/** Validates keys of labels whose values come from the pod. Upstream: `validateMatchLabelKeysAndMismatchLabelKeys`. */
function validateLabelKeys(term: PodAffinityTerm, path: string, errors: FieldErrors): void {
  const { labelSelector, matchLabelKeys = [], mismatchLabelKeys = [] } = term;
  validateKeys(matchLabelKeys, labelSelector, `${path}.matchLabelKeys`, errors);
  validateKeys(mismatchLabelKeys, labelSelector, `${path}.mismatchLabelKeys`, errors);
  validateKeysUnselected(matchLabelKeys, labelSelector, path, errors);
  const mismatched = new Set(mismatchLabelKeys);
  for (const [index, key] of matchLabelKeys.entries()) {
    if (mismatched.has(key))
      errors.invalid(`${path}.matchLabelKeys[${index}]`, key, "exists in both matchLabelKeys and mismatchLabelKeys");
  }
}

function validateKeys(
  keys: readonly string[],
  selector: LabelSelector | undefined,
  path: string,
  errors: FieldErrors,
): void {
  if (keys.length === 0) return;
  if (selector === undefined) return errors.forbidden(path, "must not be specified when labelSelector is not set");
  for (const [index, key] of keys.entries()) addInvalid(errors, `${path}[${index}]`, key, labelKeyErrors(key));
}

/**
 * Validates that the selector does not also contain the keys. The pod's values have been added already (see
 * `match-label-keys.ts`), so a conflicting key occurs twice.
 */
function validateKeysUnselected(
  keys: readonly string[],
  selector: LabelSelector | undefined,
  path: string,
  errors: FieldErrors,
): void {
  if (keys.length === 0 || selector === undefined) return;
  const places = new Map(keys.map((key, index) => [key, index]));
  const selected = new Set(Object.keys(selector.matchLabels ?? {}));
  for (const { key } of selector.matchExpressions ?? []) {
    const index = places.get(key);
    if (index !== undefined && selected.has(key))
      errors.invalid(`${path}[${index}]`, key, "exists in both matchLabelKeys and labelSelector");
    selected.add(key);
  }
}

/**
 * Validates one term.
 *
 * @param isStrict - Whether values must be valid label values.
 * @see kubernetes `ValidateNodeSelectorTerm` of `pkg/apis/core/validation`
 */
function validateNodeSelectorTerm(term: NodeSelectorTerm, isStrict: boolean, path: string, errors: FieldErrors): void {
  for (const [index, { key = "", operator, values = [] }] of (term?.matchExpressions ?? []).entries()) {
    const at = `${path}.matchExpressions[${index}]`;
    validateOperator(operator, values, at, errors);
    addInvalid(errors, `${at}.key`, key, labelKeyErrors(key));
    if (!isStrict) continue;
    for (const [place, value] of values.entries())
      addInvalid(errors, `${at}.values[${place}]`, value, labelValueErrors(value));
  }
  for (const [index, { key = "", operator = "", values = [] }] of (term?.matchFields ?? []).entries()) {
    const at = `${path}.matchFields[${index}]`;
    if (operator !== "In" && operator !== "NotIn")
      errors.invalid(`${at}.operator`, operator, "not a valid selector operator");
    else if (values.length !== 1)
      errors.required(
        `${at}.values`,
        "must be only one value when `operator` is 'In' or 'NotIn' for node field selector",
      );
    if (key !== "metadata.name") errors.invalid(`${at}.key`, key, "not a valid field selector key");
    else
      for (const [place, value] of values.entries())
        addInvalid(errors, `${at}.values[${place}]`, value, dnsSubdomainErrors(value));
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
  // As upstream, the last of equal constraints is valid and the earlier ones are reported as duplicates.
  const last = new Map(constraints.map((constraint, index) => [spreadPair(constraint), index]));
  for (const [index, constraint] of constraints.entries()) {
    const { maxSkew, topologyKey, minDomains } = constraint;
    const whenUnsatisfiable = constraint.whenUnsatisfiable ?? "";
    const { labelSelector, matchLabelKeys = [] } = constraint;
    const at = `${path}[${index}]`;
    if (!(maxSkew > 0)) errors.invalid(`${at}.maxSkew`, maxSkew ?? 0, "must be greater than zero");
    if (!topologyKey) errors.required(`${at}.topologyKey`, "can not be empty");
    validateSupported(whenUnsatisfiable, SPREAD_ACTIONS, `${at}.whenUnsatisfiable`, errors);
    const pair = spreadPair(constraint);
    if (last.get(pair) !== index) errors.duplicate(`${at}.{topologyKey, whenUnsatisfiable}`, pair);
    if (minDomains !== undefined) {
      if (minDomains <= 0) errors.invalid(`${at}.minDomains`, minDomains, "must be greater than zero");
      if (whenUnsatisfiable !== "DoNotSchedule") {
        const detail = `can only use minDomains if whenUnsatisfiable=DoNotSchedule, not ${whenUnsatisfiable}`;
        errors.invalid(`${at}.minDomains`, minDomains, detail);
      }
    }
    for (const field of ["nodeAffinityPolicy", "nodeTaintsPolicy"] as const) {
      const policy = constraint[field];
      validateSupported(policy, NODE_POLICIES, `${at}.${field}`, errors);
    }
    validateKeys(matchLabelKeys, labelSelector, `${at}.matchLabelKeys`, errors);
    validateKeysUnselected(matchLabelKeys, labelSelector, `${at}.matchLabelKeys`, errors);
    validateLabelSelector(labelSelector, `${at}.labelSelector`, errors);
  }
}

/** Returns the key that identifies a constraint. */
function spreadPair({ topologyKey, whenUnsatisfiable }: TopologySpreadConstraint): string {
  return `{${topologyKey ?? ""}, ${whenUnsatisfiable ?? ""}}`;
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
