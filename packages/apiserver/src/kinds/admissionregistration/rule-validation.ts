import type { LabelSelector } from "@kubewright/api";
import { pathSegmentErrors } from "@kubewright/api/validation";

import type { FieldErrors } from "../../field-errors.js";
import { validateLabelSelector } from "../../validation/label-selector.js";
import { addInvalid, validateSupported, validateUnique } from "../../validation/rules.js";

/** The requests that a webhook or policy matches. Only policies have `resourceNames`. */
export interface OperationRule {
  operations?: string[];
  apiGroups?: string[];
  apiVersions?: string[];
  resources?: string[];
  scope?: string;
  resourceNames?: string[];
}

/** The requests that a policy or binding matches. */
export interface MatchResources {
  namespaceSelector?: LabelSelector;
  objectSelector?: LabelSelector;
  resourceRules?: OperationRule[];
  excludeResourceRules?: OperationRule[];
  matchPolicy?: string;
}

export const FAILURE_POLICIES = ["Fail", "Ignore"];
export const MATCH_POLICIES = ["Equivalent", "Exact"];
const OPERATIONS = ["*", "CONNECT", "CREATE", "DELETE", "UPDATE"];
const SCOPES = ["*", "Cluster", "Namespaced"];

export function applyRuleDefaults(rules: readonly OperationRule[] = []): void {
  for (const rule of rules) rule.scope ??= "*";
}

/**
 * Applies defaults in place.
 *
 * @returns the same object
 */
export function applyMatchResourcesDefaults(match: MatchResources): MatchResources {
  applyRuleDefaults(match.resourceRules);
  applyRuleDefaults(match.excludeResourceRules);
  match.matchPolicy ??= "Equivalent";
  match.namespaceSelector ??= {};
  match.objectSelector ??= {};
  return match;
}

/** Upstream: `validateRuleWithOperations`. */
export function validateRule(rule: OperationRule, path: string, errors: FieldErrors): void {
  const { operations = [], apiGroups = [], apiVersions = [], resources = [], scope } = rule;
  validateWildcards(operations, `${path}.operations`, "operations", errors);
  for (const [index, operation] of operations.entries())
    validateSupported(operation, OPERATIONS, `${path}.operations[${index}]`, errors);
  validateWildcards(apiGroups, `${path}.apiGroups`, "API groups", errors);
  validateWildcards(apiVersions, `${path}.apiVersions`, "API versions", errors);
  for (const [index, version] of apiVersions.entries())
    if (version === "") errors.required(`${path}.apiVersions[${index}]`);
  validateResources(resources, `${path}.resources`, errors);
  validateSupported(scope, SCOPES, `${path}.scope`, errors);
}

function validateWildcards(values: readonly string[], path: string, description: string, errors: FieldErrors): void {
  if (values.length === 0) errors.required(path);
  else if (values.length > 1 && values.includes("*"))
    errors.invalid(path, values, `if '*' is present, must not specify other ${description}`);
}

/**
 * Upstream: `validateResources`. As there, only the last resource without a subresource decides whether `*` conflicts
 * with one.
 */
function validateResources(resources: readonly string[], path: string, errors: FieldErrors): void {
  if (resources.length === 0) errors.required(path);
  const withAnySubresource = new Set<string>();
  const ofAnyResource = new Set<string>();
  let hasPlain = false;
  for (const [index, text] of resources.entries()) {
    if (text === "") {
      errors.required(`${path}[${index}]`);
      continue;
    }
    const slash = text.indexOf("/");
    if (slash < 0) {
      hasPlain = text !== "*";
      continue;
    }
    const resource = text.slice(0, slash);
    const subresource = text.slice(slash + 1);
    if (withAnySubresource.has(resource))
      errors.invalid(`${path}[${index}]`, text, `if '${resource}/*' is present, must not specify ${text}`);
    if (ofAnyResource.has(subresource))
      errors.invalid(`${path}[${index}]`, text, `if '*/${subresource}' is present, must not specify ${text}`);
    if (subresource === "*") withAnySubresource.add(resource);
    if (resource === "*") ofAnyResource.add(subresource);
  }
  if (resources.length > 1 && resources.includes("*/*"))
    errors.invalid(path, resources, "if '*/*' is present, must not specify other resources");
  if (resources.includes("*") && hasPlain)
    errors.invalid(path, resources, "if '*' is present, must not specify other resources without subresources");
}

/** Upstream: `validateMatchResources`. */
export function validateMatchResources(match: MatchResources, path: string, errors: FieldErrors): void {
  const { matchPolicy, namespaceSelector, objectSelector, resourceRules = [], excludeResourceRules = [] } = match;
  if (matchPolicy === undefined) errors.required(`${path}.matchPolicy`);
  validateSupported(matchPolicy, MATCH_POLICIES, `${path}.matchPolicy`, errors);
  if (namespaceSelector === undefined) errors.required(`${path}.namespaceSelector`);
  else validateLabelSelector(namespaceSelector, `${path}.namespaceSelector`, errors);
  if (objectSelector === undefined) errors.required(`${path}.objectSelector`);
  // The path has upstream's spelling.
  else validateLabelSelector(objectSelector, `${path}.labelSelector`, errors);
  for (const [index, rule] of resourceRules.entries())
    validateNamedRule(rule, `${path}.resourceRules[${index}]`, errors);
  for (const [index, rule] of excludeResourceRules.entries())
    validateNamedRule(rule, `${path}.excludeResourceRules[${index}]`, errors);
}

function validateNamedRule(rule: OperationRule, path: string, errors: FieldErrors): void {
  const names = new Set<string>();
  for (const [index, name] of (rule.resourceNames ?? []).entries()) {
    addInvalid(errors, `${path}.resourceNames[${index}]`, name, pathSegmentErrors(name));
    validateUnique(name, names, `${path}.resourceNames[${index}]`, errors);
  }
  validateRule(rule, path, errors);
}
