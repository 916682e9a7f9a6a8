import { type Lease, leases } from "@kubewright/api";

import { builtInResource } from "../built-in-resource.js";
import type { ResourceStrategy } from "../strategy.js";
import { validateNonNegative } from "../validation/rules.js";
import { ageCell, table } from "./table-cells.js";
import type { FieldErrors } from "../field-errors.js";

/** Upstream: `pkg/registry/coordination/lease`, `pkg/apis/coordination/validation`. */
export const leaseStrategy: ResourceStrategy<Lease> = {
  applyDefaults: dropCoordinatedElection,
  validate: validateLease,
  allowCreateOnUpdate: true,
  allowUnconditionalUpdate: false,
  printer: table<Lease>({ Holder: ({ spec }) => spec?.holderIdentity ?? "", Age: ageCell }),
};

export const leaseResource = builtInResource<Lease>({
  definition: leases,
  strategy: leaseStrategy,
});

/** Removes the fields of the feature CoordinatedLeaderElection, which is off. */
function dropCoordinatedElection({ spec }: Lease): void {
  if (spec === undefined) return;
  delete spec.strategy;
  delete spec.preferredHolder;
}

function validateLease({ spec }: Lease, errors: FieldErrors): void {
  if (typeof spec?.leaseDurationSeconds === "number" && spec.leaseDurationSeconds <= 0) {
    errors.invalid("spec.leaseDurationSeconds", spec.leaseDurationSeconds, "must be greater than 0");
  }
  validateNonNegative(spec?.leaseTransitions, "spec.leaseTransitions", errors);
}
