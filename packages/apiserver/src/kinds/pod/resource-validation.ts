import type { Container } from "@kubewright/api";

import type { FieldErrors } from "../../field-errors.js";
import { qualifiedNameErrors } from "../../names.js";
import { parseQuantity } from "../../quantity.js";
import { addInvalid } from "../../validation/rules.js";

type Resources = NonNullable<Container["resources"]>;

const CONTAINER_RESOURCES = new Set(["cpu", "memory", "ephemeral-storage"]);
/** Names that are resources, if not of containers. */
const STANDARD_RESOURCES = new Set(
  "storage pods services replicationcontrollers resourcequotas secrets configmaps persistentvolumeclaims services.nodeports services.loadbalancers requests.cpu requests.memory requests.storage requests.ephemeral-storage limits.cpu limits.memory limits.ephemeral-storage".split(
    " ",
  ),
);
const HUGE_PAGES = "hugepages-";

/** Upstream: `ValidateContainerResourceRequirements`. */
export function validateResources(resources: Resources | undefined, path: string, errors: FieldErrors): void {
  if (resources === undefined) return;
  const { limits = {}, requests } = resources;
  for (const [name, text] of Object.entries(limits)) validateQuantity(name, text, `${path}.limits[${name}]`, errors);
  if (requests === undefined) return;
  for (const [name, text] of Object.entries(requests)) {
    validateQuantity(name, text, `${path}.requests[${name}]`, errors);
    const limit = limits[name];
    const difference = limit === undefined ? 0n : amount(text) - amount(limit);
    if (limit === undefined) {
      if (!allowsOvercommit(name))
        errors.required(`${path}.limits`, "Limit must be set for non overcommitable resources");
    } else if (difference > 0n) {
      errors.invalid(`${path}.requests`, text, `must be less than or equal to ${name} limit of ${limit}`);
    } else if (difference < 0n && !allowsOvercommit(name)) {
      errors.invalid(`${path}.requests`, text, `must be equal to ${name} limit of ${limit}`);
    }
  }
}

function validateQuantity(name: string, text: string, field: string, errors: FieldErrors): void {
  validateContainerResourceName(name, field, errors);
  const nanos = amount(text);
  if (nanos < 0n) errors.invalid(field, text, "must be greater than or equal to 0");
  if (isExtendedResource(name) && nanos % 1_000_000_000n !== 0n) errors.invalid(field, text, "must be an integer");
}

/** Upstream: `validateContainerResourceName`. */
export function validateContainerResourceName(name: string, field: string, errors: FieldErrors): void {
  validateResourceName(name, field, errors);
  if (name.includes("/")) {
    if (!isNative(name) && !isExtendedResource(name))
      errors.invalid(field, name, "doesn't follow extended resource name standard");
  } else if (!isOfContainers(name)) errors.invalid(field, name, "must be a standard resource for containers");
}

/** Upstream: `validateResourceName`. */
export function validateResourceName(name: string, field: string, errors: FieldErrors): void {
  const sentences = qualifiedNameErrors(name);
  addInvalid(errors, field, name, sentences);
  const isKnown = isOfContainers(name) || STANDARD_RESOURCES.has(name) || name.startsWith(`requests.${HUGE_PAGES}`);
  if (sentences.length === 0 && !name.includes("/") && !isKnown)
    errors.invalid(field, name, "must be a standard resource type or fully qualified");
}

function isOfContainers(name: string): boolean {
  return CONTAINER_RESOURCES.has(name) || name.startsWith(HUGE_PAGES);
}

function isNative(name: string): boolean {
  return !name.includes("/") || name.includes("kubernetes.io/");
}

/** Upstream: `IsExtendedResourceName`. */
export function isExtendedResource(name: string): boolean {
  return !isNative(name) && !name.startsWith("requests.") && qualifiedNameErrors(`requests.${name}`).length === 0;
}

/** Whether less may be requested of it than it is limited to. Upstream: `IsOvercommitAllowed`. */
export function allowsOvercommit(name: string): boolean {
  return isNative(name) && !name.startsWith(HUGE_PAGES);
}

function amount(text: string): bigint {
  return parseQuantity(text)?.nanos ?? 0n;
}
