import { type ValidatingAdmissionPolicy, validatingAdmissionPolicies } from "@kubewright/api";

import { builtInResource } from "../../built-in-resource.js";
import type { ResourceStrategy } from "../../strategy.js";
import { specAndStatus } from "../spec-and-status.js";
import { ageCell, table } from "../table-cells.js";
import { validatePolicy, validatePolicyStatus } from "./policy-validation.js";
import { applyMatchResourcesDefaults } from "./rule-validation.js";
import { admissionRegistrationTypes } from "./types.js";

/** Upstream: `pkg/registry/admissionregistration/validatingadmissionpolicy`. */
const policyStrategy: ResourceStrategy<ValidatingAdmissionPolicy> = {
  ...specAndStatus<ValidatingAdmissionPolicy>(undefined, (policy, _stored, errors) =>
    validatePolicyStatus(policy, errors),
  ),
  applyDefaults({ spec }, stored) {
    if (spec === undefined || spec === stored?.spec) return;
    spec.failurePolicy ??= "Fail";
    if (spec.matchConstraints !== undefined) applyMatchResourcesDefaults(spec.matchConstraints);
  },
  validate: validatePolicy,
  allowUnconditionalUpdate: false,
  printer: table<ValidatingAdmissionPolicy>({
    "Validations:integer": ({ spec = {} }) => spec.validations?.length ?? 0,
    ParamKind: ({ spec = {} }) =>
      spec.paramKind === undefined ? "<unset>" : `${spec.paramKind.apiVersion ?? ""}/${spec.paramKind.kind ?? ""}`,
    Age: ageCell,
  }),
};

export const validatingAdmissionPolicyResource = builtInResource<ValidatingAdmissionPolicy>({
  definition: validatingAdmissionPolicies,
  categories: ["api-extensions"],
  types: admissionRegistrationTypes,
  strategy: policyStrategy,
});
