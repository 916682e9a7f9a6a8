import { type PodDisruptionBudget, podDisruptionBudgets } from "@kubewright/api";

import { builtInResource } from "../../built-in-resource.js";
import type { FieldErrors } from "../../field-errors.js";
import type { ResourceStrategy } from "../../strategy.js";
import { validateConditions } from "../../validation/conditions.js";
import { validateAtMost100Percent, validateIntOrPercent } from "../../validation/int-or-percent.js";
import { validateLabelSelector } from "../../validation/label-selector.js";
import { validateNonNegative, validateSupported } from "../../validation/rules.js";
import { internalForm } from "../internal-form.js";
import { specAndStatus } from "../spec-and-status.js";
import { ageCell, table } from "../table-cells.js";
import { policyTypes } from "./types.js";

const EVICTION_POLICIES = ["AlwaysAllow", "IfHealthyBudget"];
const COUNTS = ["disruptionsAllowed", "currentHealthy", "desiredHealthy", "expectedPods"] as const;

/**
 * Upstream: `pkg/registry/policy/poddisruptionbudget`, `pkg/apis/policy/validation`. A controller computes the counts
 * of the status.
 */
export const podDisruptionBudgetStrategy: ResourceStrategy<PodDisruptionBudget> = {
  ...specAndStatus<PodDisruptionBudget>(
    () => ({ currentHealthy: 0, desiredHealthy: 0, disruptionsAllowed: 0, expectedPods: 0 }),
    ({ status }, _stored, errors) => {
      for (const count of COUNTS) validateNonNegative(status?.[count], `status.${count}`, errors);
      validateConditions(status?.conditions ?? [], "status.conditions", errors);
    },
  ),
  allowUnconditionalUpdate: false,
  validate: validateBudget,
  printer: table<PodDisruptionBudget>({
    "Min Available": ({ spec }) => String(spec?.minAvailable ?? "N/A"),
    "Max Unavailable": ({ spec }) => String(spec?.maxUnavailable ?? "N/A"),
    "Allowed Disruptions:integer": ({ status }) => status?.disruptionsAllowed ?? 0,
    Age: ageCell,
  }),
};

export const podDisruptionBudgetResource = builtInResource<PodDisruptionBudget>({
  definition: podDisruptionBudgets,
  shortNames: ["pdb"],
  types: policyTypes,
  strategy: podDisruptionBudgetStrategy,
});

function validateBudget({ spec = {} }: PodDisruptionBudget, errors: FieldErrors): void {
  const { minAvailable, maxUnavailable, selector, unhealthyPodEvictionPolicy } = spec;
  if (minAvailable !== undefined && maxUnavailable !== undefined)
    errors.invalid(
      "spec",
      internalForm("PodDisruptionBudgetSpec", spec),
      "minAvailable and maxUnavailable cannot be both set",
    );
  validateAmount(minAvailable, "spec.minAvailable", errors);
  validateAmount(maxUnavailable, "spec.maxUnavailable", errors);
  validateLabelSelector(selector, "spec.selector", errors);
  validateSupported(unhealthyPodEvictionPolicy, EVICTION_POLICIES, "spec.unhealthyPodEvictionPolicy", errors);
}

function validateAmount(amount: number | string | undefined, field: string, errors: FieldErrors): void {
  validateIntOrPercent(amount, field, errors);
  validateAtMost100Percent(amount, field, errors);
}
