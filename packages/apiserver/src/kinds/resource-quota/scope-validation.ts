import type { FieldErrors } from "../../field-errors.js";
import type { QuotaSpec } from "./scopes.js";
import { isQuotaResource } from "./standard-resources.js";

const COMPUTE_RESOURCES = new Set("pods cpu memory limits.cpu limits.memory requests.cpu requests.memory".split(" "));
/** The resources that each scope can count. */
const SCOPES: Readonly<Record<string, ReadonlySet<string>>> = {
  BestEffort: new Set(["pods"]),
  NotBestEffort: COMPUTE_RESOURCES,
  Terminating: COMPUTE_RESOURCES,
  NotTerminating: COMPUTE_RESOURCES,
  PriorityClass: COMPUTE_RESOURCES,
  CrossNamespacePodAffinity: COMPUTE_RESOURCES,
};
const OPPOSITES = [
  ["BestEffort", "NotBestEffort"],
  ["Terminating", "NotTerminating"],
] as const;
const MUST_EXIST =
  "must be 'Exists' when scope is any of ResourceQuotaScopeTerminating, ResourceQuotaScopeNotTerminating, ResourceQuotaScopeBestEffort, ResourceQuotaScopeNotBestEffort or ResourceQuotaScopeCrossNamespacePodAffinity";

/** Upstream: `validateResourceQuotaScopes`, `validateScopedResourceSelectorRequirement`. */
export function validateScopes(spec: QuotaSpec, errors: FieldErrors): void {
  const { scopes = [], scopeSelector } = spec;
  for (const scope of scopes) {
    if (!isScope(scope)) errors.invalid("spec.scopes", scopes, "unsupported scope");
    validateResources(scope, spec, () =>
      errors.invalid("spec.scopes", scopes, "unsupported scope applied to resource"),
    );
  }
  validateOpposites(scopes, () => errors.invalid("spec.scopes", scopes, "conflicting scopes"));
  if (scopeSelector === undefined) return;
  const path = "spec.scopeSelector.matchExpressions";
  const requirements = scopeSelector.matchExpressions ?? [];
  for (const { scopeName, operator, values = [] } of requirements) {
    if (!isScope(scopeName)) errors.invalid(`${path}.scopeName`, scopeName, "unsupported scope");
    validateResources(scopeName, spec, () =>
      errors.invalid(path, scopeSelector, "unsupported scope applied to resource"),
    );
    if (isScope(scopeName) && scopeName !== "PriorityClass" && operator !== "Exists")
      errors.invalid(`${path}.operator`, operator, MUST_EXIST);
    if (operator === "In" || operator === "NotIn") {
      if (values.length === 0)
        errors.required(
          `${path}.values`,
          "must be at least one value when `operator` is 'In' or 'NotIn' for scope selector",
        );
    } else if (operator === "Exists" || operator === "DoesNotExist") {
      if (values.length > 0)
        errors.invalid(
          `${path}.values`,
          values,
          "must be no value when `operator` is 'Exist' or 'DoesNotExist' for scope selector",
        );
    } else errors.invalid(`${path}.operator`, operator, "not a valid selector operator");
  }
  const names = requirements.map(({ scopeName }) => scopeName);
  validateOpposites(names, () => errors.invalid(path, names, "conflicting scopes"));
}

function isScope(name: string): boolean {
  return Object.hasOwn(SCOPES, name);
}

function validateResources(scope: string, { hard = {} }: QuotaSpec, refuse: () => void): void {
  if (!isScope(scope)) return;
  for (const name of Object.keys(hard)) if (isQuotaResource(name) && !SCOPES[scope]!.has(name)) refuse();
}

function validateOpposites(scopes: readonly string[], refuse: () => void): void {
  for (const pair of OPPOSITES) if (pair.every((scope) => scopes.includes(scope))) refuse();
}
