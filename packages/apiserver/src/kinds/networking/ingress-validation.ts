import type { Ingress } from "@kubewright/api";
import {
  dnsLabelErrors,
  dnsSubdomainErrors,
  ipAddressErrors,
  ipFamily,
  pathSegmentErrors,
  portNameErrors,
  portNumberErrors,
  wildcardSubdomainErrors,
} from "@kubewright/api/validation";

import type { FieldErrors } from "../../field-errors.js";
import { addInvalid, validateRequired } from "../../validation/rules.js";

type Spec = NonNullable<Ingress["spec"]>;
type Rule = NonNullable<Spec["rules"]>[number];
type Backend = NonNullable<Spec["defaultBackend"]>;
type HttpPath = NonNullable<Rule["http"]>["paths"][number];

const PATH_TYPES = ["Exact", "ImplementationSpecific", "Prefix"];
const BAD_SEQUENCES = ["//", "/./", "/../", "%2f", "%2F"];
const BAD_ENDINGS = ["/..", "/."];
const NOT_AN_IP = "must be a DNS name, not an IP address";

/**
 * Upstream: `ValidateIngressSpec`.
 *
 * @param stored - The stored spec. Invalid secret names that it already has are permitted.
 */
export function validateIngressSpec(spec: Spec, stored: Spec | undefined, errors: FieldErrors): void {
  const { rules, defaultBackend, tls = [], ingressClassName } = spec;
  if ((rules ?? []).length === 0 && defaultBackend === undefined)
    errors.invalid("spec", rules, "either `defaultBackend` or `rules` must be specified");
  if (defaultBackend !== undefined) validateBackend(defaultBackend, "spec.defaultBackend", errors);
  for (const [index, rule] of (rules ?? []).entries()) validateRule(rule, `spec.rules[${index}]`, errors);
  const hadBadSecret = (stored?.tls ?? []).some(({ secretName }) => secretErrors(secretName).length > 0);
  for (const [index, { hosts = [], secretName }] of tls.entries()) {
    const at = `spec.tls[${index}]`;
    for (const [place, host] of hosts.entries()) addInvalid(errors, `${at}.hosts[${place}]`, host, hostErrors(host));
    if (!hadBadSecret) addInvalid(errors, `${at}.secretName`, secretName, secretErrors(secretName));
  }
  if (ingressClassName !== undefined)
    addInvalid(errors, "spec.ingressClassName", ingressClassName, dnsSubdomainErrors(ingressClassName));
}

function secretErrors(name = ""): readonly string[] {
  return name === "" ? [] : dnsSubdomainErrors(name);
}

function hostErrors(host: string): readonly string[] {
  return host.includes("*") ? wildcardSubdomainErrors(host) : dnsSubdomainErrors(host);
}

function validateRule({ host = "", http }: Rule, path: string, errors: FieldErrors): void {
  if (host !== "") {
    if (ipFamily(host) !== undefined) errors.invalid(`${path}.host`, host, NOT_AN_IP);
    addInvalid(errors, `${path}.host`, host, hostErrors(host));
  }
  if (http === undefined) return;
  const paths = http.paths ?? [];
  if (paths.length === 0) errors.required(`${path}.http.paths`);
  for (const [index, httpPath] of paths.entries()) validatePath(httpPath, `${path}.http.paths[${index}]`, errors);
}

function validatePath({ path = "", pathType, backend }: HttpPath, at: string, errors: FieldErrors): void {
  // The field is written as null when absent.
  if ((pathType as string | null | undefined) == null) {
    errors.required(`${at}.pathType`, "pathType must be specified");
    return;
  }
  if (!PATH_TYPES.includes(pathType)) errors.notSupported(`${at}.pathType`, pathType, PATH_TYPES);
  else {
    const isFree = pathType === "ImplementationSpecific";
    if (!path.startsWith("/") && !(isFree && path === ""))
      errors.invalid(`${at}.path`, path, "must be an absolute path");
    if (!isFree) {
      for (const sequence of BAD_SEQUENCES)
        if (path.includes(sequence)) errors.invalid(`${at}.path`, path, `must not contain '${sequence}'`);
      for (const ending of BAD_ENDINGS)
        if (path.endsWith(ending)) errors.invalid(`${at}.path`, path, `cannot end with '${ending}'`);
    }
  }
  validateBackend(backend, `${at}.backend`, errors);
}

function validateBackend({ resource, service }: Backend, path: string, errors: FieldErrors): void {
  if (resource !== undefined && service !== undefined)
    errors.invalid(path, "", "cannot set both resource and service backends");
  else if (resource !== undefined) validateTypedReference(resource, `${path}.resource`, errors);
  else if (service === undefined) errors.invalid(path, "", "resource or service backend is required");
  else {
    const { name, port: { name: portName = "", number = 0 } = {} } = service;
    validateRequired(name, dnsLabelErrors, `${path}.service.name`, errors);
    if (portName !== "" && number !== 0) errors.invalid(path, "", "cannot set both port name & port number");
    else if (portName !== "") addInvalid(errors, `${path}.service.port.name`, portName, portNameErrors(portName));
    else if (number !== 0) addInvalid(errors, `${path}.service.port.number`, number, portNumberErrors(number));
    else errors.required(path, "port name or number is required");
  }
}

/** Validates a reference to an object of any kind, in the same namespace or cluster-scoped. */
export function validateTypedReference(
  { apiGroup, kind, name }: { readonly apiGroup?: string | null; readonly kind: string; readonly name: string },
  path: string,
  errors: FieldErrors,
): void {
  if (apiGroup !== undefined && apiGroup !== null)
    addInvalid(errors, `${path}.apiGroup`, apiGroup, dnsSubdomainErrors(apiGroup));
  validateRequired(kind, pathSegmentErrors, `${path}.kind`, errors);
  validateRequired(name, pathSegmentErrors, `${path}.name`, errors);
}

/** Upstream: `ValidateIngressLoadBalancerStatus`. */
export function validateIngressStatus(status: Ingress["status"], errors: FieldErrors): void {
  for (const [index, { ip = "", hostname = "" }] of (status?.loadBalancer?.ingress ?? []).entries()) {
    const at = `status.loadBalancer.ingress[${index}]`;
    if (ip !== "") addInvalid(errors, `${at}.ip`, ip, ipAddressErrors(ip));
    if (hostname === "") continue;
    addInvalid(errors, `${at}.hostname`, hostname, dnsSubdomainErrors(hostname));
    if (ipFamily(hostname) !== undefined) errors.invalid(`${at}.hostname`, hostname, NOT_AN_IP);
  }
}
