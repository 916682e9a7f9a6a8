import { type Container, type PodSpec, formatQuantity, parseQuantity } from "@kubewright/api";
import { qualifiedNameErrors } from "@kubewright/api/validation";

import type { FieldErrors } from "../../field-errors.js";
import { validateUnique } from "../../validation/rules.js";
import { containerRequests } from "./container-requests.js";
import { allowsOvercommit, isExtendedResource, isHugePages, isNativeResource } from "./resource-names.js";

type Resources = NonNullable<Container["resources"]>;
type NameRule = (name: string, field: string, errors: FieldErrors) => void;

const ONE = 1_000_000_000n;
const CONTAINER_RESOURCES = new Set(["cpu", "memory", "ephemeral-storage"]);
/** Valid resource names, including names that containers do not support. */
const STANDARD_RESOURCES = new Set(
  "cpu memory ephemeral-storage storage pods services replicationcontrollers resourcequotas secrets configmaps persistentvolumeclaims services.nodeports services.loadbalancers requests.cpu requests.memory requests.storage requests.ephemeral-storage limits.cpu limits.memory limits.ephemeral-storage".split(
    " ",
  ),
);
/** Resources with integer amounts. */
const COUNTED_RESOURCES = new Set(
  "pods services replicationcontrollers resourcequotas secrets configmaps persistentvolumeclaims services.nodeports services.loadbalancers".split(
    " ",
  ),
);
const POD_RESOURCES = ["cpu", "hugepages-", "memory"];

/**
 * Validates the resources of a container.
 *
 * @param claims - The names of the pod's resource claims.
 * @see kubernetes `ValidateContainerResourceRequirements` of `pkg/apis/core/validation`
 */
export function validateContainerResources(
  resources: Resources | undefined,
  claims: ReadonlySet<string>,
  path: string,
  errors: FieldErrors,
): void {
  if (resources !== undefined) validateRequirements(resources, claims, validateContainerResourceName, path, errors);
}

/** Validates the overhead of running the pod. Upstream: `validateOverhead`. */
export function validateOverhead(overhead: Readonly<Record<string, string>>, path: string, errors: FieldErrors): void {
  validateRequirements({ limits: overhead }, new Set(), validateContainerResourceName, path, errors);
}

/** Validates pod-level requests and limits. Upstream: `validatePodResources`. */
export function validatePodResources(
  spec: PodSpec,
  claims: ReadonlySet<string>,
  path: string,
  errors: FieldErrors,
): void {
  const { resources } = spec;
  if (resources === undefined) return;
  if (resources.claims !== undefined)
    errors.forbidden(`${path}.claims`, "claims may not be set for Resources at pod-level");
  validateRequirements(resources, claims, validatePodName, path, errors);
  for (const [name, request] of containerRequests(spec)) {
    const text = resources.requests?.[name] ?? "0";
    if (request.nanos <= amount(text)) continue;
    const detail = `must be greater than or equal to aggregate container requests of ${formatQuantity(request)}`;
    errors.invalid(`${path}.requests[${name}]`, text, detail);
  }
  for (const [index, container] of (spec.containers ?? []).entries()) {
    for (const [name, text] of Object.entries(container.resources?.limits ?? {})) {
      const limit = resources.limits?.[name];
      if (limit === undefined || amount(text) <= amount(limit)) continue;
      const field = `${path}.containers[${index}][${name}].limits`;
      errors.invalid(field, text, `must be less than or equal to pod limits of ${limit}`);
    }
  }
}

function validateRequirements(
  { limits = {}, requests = {}, claims = [] }: Resources,
  podClaims: ReadonlySet<string>,
  validateName: NameRule,
  path: string,
  errors: FieldErrors,
): void {
  let needsCompute = false;
  let hasCompute = false;
  for (const name in limits) {
    needsCompute ||= isHugePages(name);
    hasCompute ||= isComputeResource(name);
    const field = `${path}.limits[${name}]`;
    validateName(name, field, errors);
    validateAmount(name, limits[name]!, field, errors);
  }
  for (const name in requests) {
    needsCompute ||= isHugePages(name);
    hasCompute ||= isComputeResource(name);
    const field = `${path}.requests[${name}]`;
    validateName(name, field, errors);
    validateResourceQuantity(name, requests[name]!, field, errors);
    validateRequest(name, requests[name]!, limits[name], path, errors);
    validatePages(name, requests[name]!, field, errors);
  }
  if (needsCompute && !hasCompute) errors.forbidden(path, "HugePages require cpu or memory");
  if (claims.length > 0) validateClaims(claims, podClaims, `${path}.claims`, errors);
}

function isComputeResource(name: string): boolean {
  return name === "cpu" || name === "memory";
}

function validateAmount(name: string, text: string, field: string, errors: FieldErrors): void {
  validateResourceQuantity(name, text, field, errors);
  validatePages(name, text, field, errors);
}

function validateRequest(
  name: string,
  text: string,
  limit: string | undefined,
  path: string,
  errors: FieldErrors,
): void {
  if (limit === undefined) {
    if (!allowsOvercommit(name))
      errors.required(`${path}.limits`, "Limit must be set for non overcommitable resources");
    return;
  }
  if (text === limit) return;
  const difference = amount(text) - amount(limit);
  if (difference !== 0n && !allowsOvercommit(name))
    errors.invalid(`${path}.requests`, text, `must be equal to ${name} limit of ${limit}`);
  else if (difference > 0n)
    errors.invalid(`${path}.requests`, text, `must be less than or equal to ${name} limit of ${limit}`);
}

/** Validates the quantity of any resource. Upstream: `ValidateResourceQuantityValue`. */
export function validateResourceQuantity(name: string, text: string, field: string, errors: FieldErrors): void {
  // Avoids bigint arithmetic for most quantities.
  if (text.startsWith("-") && amount(text) < 0n) errors.invalid(field, text, "must be greater than or equal to 0");
  if ((COUNTED_RESOURCES.has(name) || isExtendedResource(name)) && amount(text) % ONE !== 0n)
    errors.invalid(field, text, "must be an integer");
}

/** Validates that the amount is a whole number of pages. Upstream: `validateResourceQuantityHugePageValue`. */
function validatePages(name: string, text: string, field: string, errors: FieldErrors): void {
  if (!isHugePages(name)) return;
  const size = amount(name.slice(name.indexOf("-") + 1));
  if (size > 0n && size % ONE === 0n && amount(text) % size === 0n) return;
  errors.invalid(field, text, `${text} is not positive integer multiple of ${name}`);
}

function validateClaims(
  claims: NonNullable<Resources["claims"]>,
  podClaims: ReadonlySet<string>,
  path: string,
  errors: FieldErrors,
): void {
  const names = new Set<string>();
  for (const [index, { name }] of claims.entries()) {
    const field = `${path}[${index}]`;
    if (!name) {
      errors.required(field);
      continue;
    }
    validateUnique(name, names, field, errors);
    if (podClaims.has(name)) continue;
    const all = podClaims.size === 0 ? " which is empty" : `: ${[...podClaims].sort().join(", ")}`;
    const detail = `must be one of the names in pod.spec.resourceClaims${all}`;
    errors.add({ type: "NotFound", field, value: name, detail });
  }
}

/** Upstream: `validateContainerResourceName`. */
export function validateContainerResourceName(name: string, field: string, errors: FieldErrors): void {
  validateResourceName(name, field, errors);
  if (name.includes("/")) {
    if (!isNativeResource(name) && !isExtendedResource(name))
      errors.invalid(field, name, "doesn't follow extended resource name standard");
  } else if (!CONTAINER_RESOURCES.has(name) && !isHugePages(name))
    errors.invalid(field, name, "must be a standard resource for containers");
}

const validatePodName: NameRule = (name, field, errors) => {
  if (!validateResourceName(name, field, errors)) return;
  if (!isComputeResource(name) && !isHugePages(name)) errors.notSupported(field, name, POD_RESOURCES);
};

/** Whether the resource name is valid. Upstream: `validateResourceName`. */
export function validateResourceName(name: string, field: string, errors: FieldErrors): boolean {
  const sentences = qualifiedNameErrors(name);
  for (const sentence of sentences) errors.invalid(field, name, sentence);
  if (sentences.length > 0) return false;
  if (name.includes("/") || STANDARD_RESOURCES.has(name) || isHugePages(name.replace(/^requests\./, ""))) return true;
  errors.invalid(field, name, "must be a standard resource type or fully qualified");
  return false;
}

function amount(text: string): bigint {
  return parseQuantity(text)?.nanos ?? 0n;
}
