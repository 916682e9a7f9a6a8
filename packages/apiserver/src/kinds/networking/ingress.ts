import { type Ingress, ingresses } from "@kubewright/api";

import { builtInResource } from "../../built-in-resource.js";
import type { ResourceStrategy } from "../../strategy.js";
import { specAndStatus } from "../spec-and-status.js";
import { ageCell, firstItemsCell, table } from "../table-cells.js";
import { CLASS_ANNOTATION, defaultIngressClass } from "./default-ingress-class.js";
import { validateIngressSpec, validateIngressStatus } from "./ingress-validation.js";
import { networkingTypes } from "./types.js";

const baseStrategy = specAndStatus<Ingress>(
  () => ({ loadBalancer: {} }),
  ({ status }, _stored, errors) => validateIngressStatus(status, errors),
);

/** Upstream: `pkg/registry/networking/ingress`, `pkg/apis/networking/validation`. */
export const ingressStrategy: ResourceStrategy<Ingress> = {
  ...baseStrategy,
  prepareForCreate(ingress, context) {
    baseStrategy.prepareForCreate(ingress, context);
    dropEmptyRules(ingress);
  },
  prepareForUpdate(ingress, stored) {
    baseStrategy.prepareForUpdate(ingress, stored);
    dropEmptyRules(ingress);
  },
  validateCreate({ metadata, spec = {} }, errors) {
    validateIngressSpec(spec, undefined, errors);
    const annotated = metadata.annotations?.[CLASS_ANNOTATION];
    if (annotated !== undefined && spec.ingressClassName !== undefined && annotated !== spec.ingressClassName)
      errors.invalid(
        `annotations.${CLASS_ANNOTATION}`,
        annotated,
        "must match `ingressClassName` when both are specified",
      );
  },
  validateUpdate: ({ spec = {} }, stored, errors) => validateIngressSpec(spec, stored.spec ?? {}, errors),
  warningsOnCreate: ({ metadata, spec }) =>
    metadata.annotations?.[CLASS_ANNOTATION] === undefined || spec?.ingressClassName !== undefined
      ? []
      : [`annotation "${CLASS_ANNOTATION}" is deprecated, please use 'spec.ingressClassName' instead`],
  printer: table<Ingress>({
    Class: ({ spec }) => spec?.ingressClassName ?? "<none>",
    Hosts: ({ spec }) => firstItemsCell((spec?.rules ?? []).flatMap(({ host }) => (host ? [host] : []))) || "*",
    Address: ({ status: { loadBalancer } = {} }) =>
      (loadBalancer?.ingress ?? []).map(({ ip, hostname }) => ip || hostname || "").join(","),
    Ports: ({ spec }) => ((spec?.tls ?? []).length === 0 ? "80" : "80, 443"),
    Age: ageCell,
  }),
};

export const ingressResource = builtInResource<Ingress>({
  definition: ingresses,
  shortNames: ["ing"],
  types: networkingTypes,
  strategy: ingressStrategy,
  admission: defaultIngressClass,
});

/**
 * Drops an empty list of rules, which equals an absent list. Without a default backend the list stays, because the
 * error shows it.
 */
function dropEmptyRules({ spec }: Ingress): void {
  if (spec?.rules?.length === 0 && spec.defaultBackend !== undefined) delete spec.rules;
}
