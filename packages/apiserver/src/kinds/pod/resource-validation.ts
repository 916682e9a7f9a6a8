import type { Container } from "@kubewright/api";

import type { FieldErrors } from "../../field-errors.js";
import { qualifiedNameErrors } from "../../names.js";
import { parseQuantity } from "../../quantity.js";

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
  validateName(name, field, errors);
  const nanos = amount(text);
  if (nanos < 0n) errors.invalid(field, text, "must be greater than or equal to 0");
  if (isExtended(name) && nanos % 1_000_000_000n !== 0n) errors.invalid(field, text, "must be an integer");
}

function validateName(name: string, field: string, errors: FieldErrors): void {
  const sentences = qualifiedNameErrors(name);
  for (const sentence of sentences) errors.invalid(field, name, sentence);
  if (name.includes("/")) {
    if (!isNative(name) && !isExtended(name))
      errors.invalid(field, name, "doesn't follow extended resource name standard");
    return;
  }
  const isOfContainers = CONTAINER_RESOURCES.has(name) || name.startsWith(HUGE_PAGES);
  if (sentences.length === 0 && !isOfContainers && !STANDARD_RESOURCES.has(name)) {
    errors.invalid(field, name, "must be a standard resource type or fully qualified");
  }
  if (!isOfContainers) errors.invalid(field, name, "must be a standard resource for containers");
}

function isNative(name: string): boolean {
  return !name.includes("/") || name.includes("kubernetes.io/");
}

function isExtended(name: string): boolean {
  return !isNative(name) && !name.startsWith("requests.") && qualifiedNameErrors(`requests.${name}`).length === 0;
}

function allowsOvercommit(name: string): boolean {
  return isNative(name) && !name.startsWith(HUGE_PAGES);
}

function amount(text: string): bigint {
  return parseQuantity(text)?.nanos ?? 0n;
}
