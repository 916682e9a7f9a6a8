import { type ResourceQuota, parseQuantity, resourceQuotas } from "@kubewright/api";

import { builtInResource } from "../../built-in-resource.js";
import type { FieldErrors } from "../../field-errors.js";
import type { ResourceStrategy } from "../../strategy.js";
import { FIELD_IS_IMMUTABLE } from "../../validation/rules.js";
import type { Resources } from "../pod/pod-resources.js";
import { isExtendedResource } from "../pod/resource-names.js";
import { validateResourceName } from "../pod/resource-validation.js";
import { separateStatus } from "../spec-and-status.js";
import { ageCell, table } from "../table-cells.js";
import { resourceQuotaAdmission } from "./admission.js";
import { validateScopes } from "./scope-validation.js";
import { isQuotaResource } from "./standard-resources.js";
import { resourceQuotaTypes } from "./types.js";

const COUNTED = new Set(
  "pods services replicationcontrollers resourcequotas secrets configmaps persistentvolumeclaims services.nodeports services.loadbalancers".split(
    " ",
  ),
);

/** Upstream: `pkg/registry/core/resourcequota`, `ValidateResourceQuota`. */
export const resourceQuotaStrategy: ResourceStrategy<ResourceQuota> = {
  ...separateStatus<ResourceQuota>(
    () => ({}),
    ({ status }, _stored, errors) => {
      validateAmounts(status?.hard, "status.hard", errors);
      validateAmounts(status?.used, "status.used", errors);
    },
  ),
  validate: validateQuota,
  validateUpdate(quota, stored, errors) {
    const scopes = new Set(quota.spec?.scopes ?? []);
    const before = new Set(stored.spec?.scopes ?? []);
    if (scopes.size !== before.size || [...scopes].some((scope) => !before.has(scope)))
      errors.invalid("spec.scopes", quota.spec?.scopes ?? null, FIELD_IS_IMMUTABLE);
  },
  printer: table<ResourceQuota>({
    Request: (quota) => usageCell(quota, (name) => !name.startsWith("limits")),
    Limit: (quota) => usageCell(quota, (name) => name.startsWith("limits")),
    Age: ageCell,
  }),
};

function usageCell(
  { status: { hard = {}, used = {} } = {} }: ResourceQuota,
  isWanted: (name: string) => boolean,
): string {
  const names = Object.keys(hard).filter(isWanted).sort();
  return names.map((name) => `${name}: ${used[name] ?? "0"}/${hard[name]}`).join(", ");
}

export const resourceQuotaResource = builtInResource<ResourceQuota>({
  definition: resourceQuotas,
  shortNames: ["quota"],
  types: resourceQuotaTypes,
  strategy: resourceQuotaStrategy,
  admission: resourceQuotaAdmission,
});

function validateQuota({ spec = {} }: ResourceQuota, errors: FieldErrors): void {
  validateAmounts(spec.hard, "spec.hard", errors);
  validateScopes(spec, errors);
}

/** Upstream: `ValidateResourceQuotaResourceName`, `ValidateResourceQuantityValue`. */
function validateAmounts(amounts: Resources | undefined, path: string, errors: FieldErrors): void {
  for (const [name, text] of Object.entries(amounts ?? {})) {
    const field = `${path}[${name}]`;
    validateResourceName(name, field, errors);
    if (!name.includes("/") && !isQuotaResource(name))
      errors.invalid(field, name, "must be a standard resource for quota");
    const nanos = parseQuantity(text)?.nanos ?? 0n;
    if (nanos < 0n) errors.invalid(field, text, "must be greater than or equal to 0");
    if ((COUNTED.has(name) || isExtendedResource(name)) && nanos % 1_000_000_000n !== 0n)
      errors.invalid(field, text, "must be an integer");
  }
}
