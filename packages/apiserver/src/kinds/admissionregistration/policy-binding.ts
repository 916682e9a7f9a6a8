import {
  type ValidatingAdmissionPolicyBinding,
  formatLabelSelector,
  validatingAdmissionPolicyBindings,
} from "@kubewright/api";
import { dnsSubdomainErrors, pathSegmentErrors } from "@kubewright/api/validation";

import { builtInResource } from "../../built-in-resource.js";
import type { FieldErrors } from "../../field-errors.js";
import type { ResourceStrategy } from "../../strategy.js";
import { validateLabelSelector } from "../../validation/label-selector.js";
import { addInvalid, validateRequired, validateSupported, validateUnique } from "../../validation/rules.js";
import { generationOf } from "../spec-and-status.js";
import { ageCell, table } from "../table-cells.js";
import { applyMatchResourcesDefaults, validateMatchResources } from "./rule-validation.js";
import { admissionRegistrationTypes } from "./types.js";

type Spec = ValidatingAdmissionPolicyBinding["spec"];

const ACTIONS = ["Audit", "Deny", "Warn"];
const NOT_FOUND_ACTIONS = ["Deny", "Allow"];
const EXCLUSIVE = "name and selector are mutually exclusive";

/** Upstream: `pkg/registry/admissionregistration/validatingadmissionpolicybinding`. */
const bindingStrategy: ResourceStrategy<ValidatingAdmissionPolicyBinding> = {
  applyDefaults({ spec }, stored) {
    if (spec === stored?.spec || spec?.matchResources === undefined) return;
    applyMatchResourcesDefaults(spec.matchResources);
  },
  ...generationOf<ValidatingAdmissionPolicyBinding>("spec"),
  validate: validateBinding,
  allowUnconditionalUpdate: false,
  printer: table<ValidatingAdmissionPolicyBinding>({
    PolicyName: ({ spec }) => spec?.policyName ?? "",
    ParamRef: ({ spec }) => paramCell(spec?.paramRef),
    Age: ageCell,
  }),
};

export const validatingAdmissionPolicyBindingResource = builtInResource<ValidatingAdmissionPolicyBinding>({
  definition: validatingAdmissionPolicyBindings,
  categories: ["api-extensions"],
  types: admissionRegistrationTypes,
  strategy: bindingStrategy,
});

function paramCell(paramRef: Spec["paramRef"]): string {
  if (paramRef === undefined) return "<unset>";
  const { name = "", namespace = "", selector } = paramRef;
  if (name !== "") return namespace === "" ? name : `${namespace}/${name}`;
  return selector === undefined ? "<unset>" : formatLabelSelector(selector);
}

/** Upstream: `validateValidatingAdmissionPolicyBindingSpec`. */
function validateBinding(binding: ValidatingAdmissionPolicyBinding, errors: FieldErrors): void {
  // A client may omit the spec, although its type is required.
  const spec: Partial<Spec> | undefined = binding.spec;
  const { policyName, paramRef, matchResources, validationActions = [] } = spec ?? {};
  validateRequired(policyName, dnsSubdomainErrors, "spec.policyName", errors);
  if (paramRef !== undefined) validateParamRef(paramRef, errors);
  // The path has upstream's spelling.
  if (matchResources !== undefined) validateMatchResources(matchResources, "spec.matchResouces", errors);
  validateActions(validationActions, errors);
}

function validateParamRef(
  { name = "", selector, parameterNotFoundAction }: NonNullable<Spec["paramRef"]>,
  errors: FieldErrors,
): void {
  const path = "spec.paramRef";
  if (name !== "") {
    addInvalid(errors, `${path}.name`, name, pathSegmentErrors(name));
    if (selector !== undefined) errors.forbidden(`${path}.name`, EXCLUSIVE);
  }
  if (selector !== undefined) {
    validateLabelSelector(selector, `${path}.selector`, errors);
    if (name !== "") errors.forbidden(`${path}.selector`, EXCLUSIVE);
  }
  if (name === "" && selector === undefined) errors.required(path, "one of name or selector must be specified");
  if (parameterNotFoundAction === undefined) errors.required(`${path}.parameterNotFoundAction`);
  validateSupported(parameterNotFoundAction, NOT_FOUND_ACTIONS, `${path}.parameterNotFoundAction`, errors);
}

function validateActions(actions: readonly string[], errors: FieldErrors): void {
  const path = "spec.validationActions";
  if (actions.length === 0) errors.required(path, "at least one validation action is required");
  const seen = new Set<string>();
  for (const [index, action] of actions.entries()) {
    validateSupported(action, ACTIONS, `${path}[${index}]`, errors);
    validateUnique(action, seen, `${path}[${index}]`, errors);
  }
  if (seen.has("Deny") && seen.has("Warn"))
    errors.invalid(
      path,
      actions,
      "must not contain both Deny and Warn (repeating the same validation failure information in the API response and headers serves no purpose)",
    );
}
