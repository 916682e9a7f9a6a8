import { type ClusterRole, type PolicyRule, type Role, clusterRoles, roles } from "@kubewright/api";

import { grantAdmission } from "../../authorization/escalation.js";
import { builtInResource } from "../../built-in-resource.js";
import type { FieldErrors } from "../../field-errors.js";
import type { ResourceStrategy } from "../../strategy.js";
import { validateLabelSelector } from "../../validation/label-selector.js";

/** Upstream: `pkg/registry/rbac/role`, `pkg/apis/rbac/validation` ValidateRole. */
const roleStrategy: ResourceStrategy<Role> = {
  validate: ({ rules }, errors) => validateRules(rules, true, errors),
  allowCreateOnUpdate: true,
  nameFormat: "path-segment",
};

export const roleResource = builtInResource<Role>({
  definition: roles,
  strategy: roleStrategy,
  admission: grantAdmission,
});

/**
 * Upstream: `pkg/registry/rbac/clusterrole`. The controller `aggregateRoles` fills in the rules that `aggregationRule`
 * selects.
 */
const clusterRoleStrategy: ResourceStrategy<ClusterRole> = {
  validate: validateClusterRole,
  allowCreateOnUpdate: true,
  nameFormat: "path-segment",
};

export const clusterRoleResource = builtInResource<ClusterRole>({
  definition: clusterRoles,
  strategy: clusterRoleStrategy,
  admission: grantAdmission,
});

function validateClusterRole({ rules, aggregationRule }: ClusterRole, errors: FieldErrors): void {
  validateRules(rules, false, errors);
  if (aggregationRule === undefined) return;
  const selectors = aggregationRule.clusterRoleSelectors ?? [];
  if (selectors.length === 0)
    errors.required(
      "aggregationRule.clusterRoleSelectors",
      "at least one clusterRoleSelector required if aggregationRule is non-nil",
    );
  for (const [index, selector] of selectors.entries())
    validateLabelSelector(selector, `aggregationRule.clusterRoleSelectors[${index}]`, errors);
}

function validateRules(
  rules: readonly PolicyRule[] | null | undefined,
  namespaced: boolean,
  errors: FieldErrors,
): void {
  for (const [index, rule] of (rules ?? []).entries()) validateRule(rule, `rules[${index}]`, namespaced, errors);
}

function validateRule(rule: PolicyRule, path: string, namespaced: boolean, errors: FieldErrors): void {
  const { apiGroups = [], resources = [], resourceNames = [], nonResourceURLs = [] } = rule;
  if ((rule.verbs ?? []).length === 0) errors.required(`${path}.verbs`, "verbs must contain at least one value");
  if (nonResourceURLs.length > 0) {
    if (namespaced)
      errors.invalid(`${path}.nonResourceURLs`, nonResourceURLs, "namespaced rules cannot apply to non-resource URLs");
    if (apiGroups.length > 0 || resources.length > 0 || resourceNames.length > 0)
      errors.invalid(
        `${path}.nonResourceURLs`,
        nonResourceURLs,
        "rules cannot apply to both regular resources and non-resource URLs",
      );
    return;
  }
  if (apiGroups.length === 0) errors.required(`${path}.apiGroups`, "resource rules must supply at least one api group");
  if (resources.length === 0) errors.required(`${path}.resources`, "resource rules must supply at least one resource");
}
