import { type IngressClass, ingressClasses } from "@kubewright/api";
import { byteLength, dnsLabelErrors } from "@kubewright/api/validation";

import { builtInResource } from "../../built-in-resource.js";
import type { FieldErrors } from "../../field-errors.js";
import type { ResourceStrategy } from "../../strategy.js";
import { validateDomainPrefixedPath } from "../../validation/domain-prefixed-path.js";
import { FIELD_IS_IMMUTABLE, addInvalid } from "../../validation/rules.js";
import { generationOf } from "../spec-and-status.js";
import { ageCell, table } from "../table-cells.js";
import { validateTypedReference } from "./ingress-validation.js";
import { networkingTypes } from "./types.js";

const MAX_CONTROLLER_BYTES = 250;
const SCOPES = ["Cluster", "Namespace"];

/** Upstream: `pkg/registry/networking/ingressclass`, `ValidateIngressClass`. */
export const ingressClassStrategy: ResourceStrategy<IngressClass> = {
  applyDefaults({ spec }, stored) {
    if (spec?.parameters !== undefined && spec !== stored?.spec) spec.parameters.scope ??= "Cluster";
  },
  ...generationOf<IngressClass>("spec"),
  validateCreate: validateIngressClass,
  validateUpdate(ingressClass, stored, errors) {
    const { controller = "" } = ingressClass.spec ?? {};
    if (controller !== (stored.spec?.controller ?? ""))
      errors.invalid("spec.controller", controller, FIELD_IS_IMMUTABLE);
    validateIngressClass(ingressClass, errors);
  },
  printer: table<IngressClass>({
    Controller: ({ spec }) => spec?.controller ?? "",
    Parameters: ({ spec }) => parametersCell(spec?.parameters),
    Age: ageCell,
  }),
};

export const ingressClassResource = builtInResource<IngressClass>({
  definition: ingressClasses,
  types: networkingTypes,
  strategy: ingressClassStrategy,
});

function validateIngressClass({ spec = {} }: IngressClass, errors: FieldErrors): void {
  const { controller = "", parameters } = spec;
  if (byteLength(controller) > MAX_CONTROLLER_BYTES) errors.tooLong("spec.controller", MAX_CONTROLLER_BYTES);
  validateDomainPrefixedPath(controller, "spec.controller", errors);
  if (parameters === undefined) return;
  const path = "spec.parameters";
  const { scope, namespace } = parameters;
  validateTypedReference(parameters, path, errors);
  if (scope === undefined) errors.required(`${path}.scope`);
  else if (!SCOPES.includes(scope)) errors.notSupported(`${path}.scope`, scope, SCOPES);
  else if (scope === "Cluster") {
    if (namespace !== undefined) errors.forbidden(`${path}.namespace`, "`parameters.scope` is set to 'Cluster'");
  } else if (namespace === undefined) errors.required(`${path}.namespace`, "`parameters.scope` is set to 'Namespace'");
  else addInvalid(errors, `${path}.namespace`, namespace, dnsLabelErrors(namespace));
}

function parametersCell(parameters: NonNullable<IngressClass["spec"]>["parameters"]): string {
  if (parameters === undefined) return "<none>";
  const { apiGroup, kind, name } = parameters;
  return `${kind}${apiGroup === undefined ? "" : `.${apiGroup}`}/${name}`;
}
