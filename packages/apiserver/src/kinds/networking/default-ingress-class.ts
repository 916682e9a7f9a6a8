import { type Ingress, type IngressClass, ingressClasses, ingresses } from "@kubewright/api";

import type { AdmissionPlugin } from "../../registry/admission.js";

/** The annotation that named the class before the field existed. */
export const CLASS_ANNOTATION = "kubernetes.io/ingress.class";
const DEFAULT_ANNOTATION = "ingressclass.kubernetes.io/is-default-class";

/**
 * Sets the default class in a new Ingress without a class. Of several default classes, the newest is used.
 *
 * Upstream: `plugin/pkg/admission/network/defaultingressclass`.
 */
export const defaultIngressClass: AdmissionPlugin = {
  concerns: ({ group, resource }) => group === ingresses.group && resource === ingresses.resource,
  mutate({ operation, subresource, object, server }) {
    const { metadata, spec } = object as Ingress;
    if (operation !== "CREATE" || subresource !== "" || spec === undefined) return;
    if (spec.ingressClassName !== undefined || metadata.annotations?.[CLASS_ANNOTATION] !== undefined) return;
    const classes = server.registry.storageOf(ingressClasses);
    const defaults = (classes?.list() ?? [])
      .map((stored) => stored.object as IngressClass)
      .filter((candidate) => candidate.metadata.annotations?.[DEFAULT_ANNOTATION] === "true");
    const chosen = defaults.sort(newestFirst)[0];
    if (chosen?.metadata.name !== undefined) spec.ingressClassName = chosen.metadata.name;
  },
};

function newestFirst(a: IngressClass, b: IngressClass): number {
  const { creationTimestamp: created = "", name = "" } = a.metadata;
  const { creationTimestamp: otherCreated = "", name: otherName = "" } = b.metadata;
  if (created !== otherCreated) return created > otherCreated ? -1 : 1;
  return name < otherName ? -1 : 1;
}
