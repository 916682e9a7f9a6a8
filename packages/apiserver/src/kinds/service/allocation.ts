import { mutableCopy, type Service } from "@kubewright/api";
import { ipFamily } from "@kubewright/api/validation";

import { internalError, invalid } from "../../api-error.js";
import { FieldErrors } from "../../field-errors.js";
import { jsonEqual } from "../../json.js";
import type { AdmissionAttributes, AdmissionPlugin } from "../../registry/admission.js";
import { isInCidr } from "../../validation/ip-address.js";
import { validateClusterIPs } from "./cluster-ips-validation.js";
import { isHeadless, needsAddress, needsHealthCheck, needsNodePorts } from "./service-requirements.js";

type Spec = NonNullable<Service["spec"]>;
type Port = NonNullable<Spec["ports"]>[number];

/** The defaults of kube-apiserver's `--service-cluster-ip-range` and `--service-node-port-range`. */
const RANGE = { cidr: "10.0.0.0/24", prefix: "10.0.0.", first: 1, last: 254 };
const NODE_PORTS = { first: 30000, last: 32767 };
/** The address of the Service `kubernetes`. */
export const FIRST_SERVICE_ADDRESS = `${RANGE.prefix}${RANGE.first}`;
/** The sizes of the lower part of each range, which dynamic allocation uses only when the rest is full. */
const STATIC_RANGE_SIZES = { addresses: 16, nodePorts: 86 };

/**
 * Allocates cluster IPs and node ports: the requested ones, or free ones. Upstream allocates before it validates the
 * rest of the Service, so allocation errors are reported alone.
 *
 * Upstream: `Allocators` of `pkg/registry/core/service/storage`. Upstream picks free values at random. This plugin
 * picks the lowest, so that equal runs are equal and a value that a client chooses is rarely allocated already.
 */
export const serviceAllocation: AdmissionPlugin = {
  concerns: ({ group, resource }) => group === "" && resource === "services",
  mutate(attributes) {
    const service = attributes.object as Service;
    const stored = storedSpec(attributes);
    if (attributes.subresource !== "" || service.spec === undefined || service.spec === stored) return;
    const spec = mutableCopy(service.spec);
    service.spec = spec;
    if (stored !== undefined) patchAllocatedValues(spec, stored);
    normalizeClusterIPs(spec, stored);
    const errors = new FieldErrors();
    if (stored === undefined || !needsAddress(stored)) allocateAddress(spec, attributes, errors);
    if (errors.isEmpty && needsNodePorts(spec)) allocateNodePorts(spec, attributes, errors);
    if (!errors.isEmpty) throw invalid({ group: "", kind: "Service" }, service.metadata.name ?? "", errors);
  },
};

function storedSpec({ oldObject }: AdmissionAttributes): Spec | undefined {
  return (oldObject as Pick<Service, "spec"> | undefined)?.spec;
}

/**
 * Keeps stored values that the client omits, and drops values that belong to the previous type. Upstream:
 * `patchAllocatedValues`, `dropTypeDependentFields`.
 */
function patchAllocatedValues(spec: Spec, stored: Spec): void {
  if (needsAddress(spec) && needsAddress(stored)) {
    spec.clusterIP ||= stored.clusterIP ?? "";
    if ((spec.clusterIPs?.length ?? 0) === 0 && spec.clusterIP === stored.clusterIP && stored.clusterIPs !== undefined)
      spec.clusterIPs = [...stored.clusterIPs];
    if (spec.ipFamilies === undefined && stored.ipFamilies !== undefined) spec.ipFamilies = [...stored.ipFamilies];
    spec.ipFamilyPolicy ??= stored.ipFamilyPolicy ?? "SingleStack";
  } else if (needsAddress(stored) && spec.clusterIP === stored.clusterIP) {
    delete spec.clusterIP;
    delete spec.clusterIPs;
    if (jsonEqual(spec.ipFamilies, stored.ipFamilies)) delete spec.ipFamilies;
    if (spec.ipFamilyPolicy === stored.ipFamilyPolicy) delete spec.ipFamilyPolicy;
  }
  if (needsNodePorts(spec) && needsNodePorts(stored)) keepNodePorts(spec, stored);
  else if (needsNodePorts(stored) && !needsNodePorts(spec)) {
    const ports = (list: readonly Port[] = []): (number | undefined)[] => list.map(({ nodePort }) => nodePort);
    if (jsonEqual(ports(spec.ports), ports(stored.ports))) for (const port of spec.ports ?? []) delete port.nodePort;
  }
  if (needsHealthCheck(stored)) {
    const { healthCheckNodePort: port } = stored;
    if (needsHealthCheck(spec) && port !== undefined) spec.healthCheckNodePort ||= port;
    else if (!needsHealthCheck(spec) && spec.healthCheckNodePort === port) delete spec.healthCheckNodePort;
  }
  if (stored.type === "LoadBalancer" && spec.type !== "LoadBalancer") {
    if (spec.allocateLoadBalancerNodePorts === stored.allocateLoadBalancerNodePorts)
      delete spec.allocateLoadBalancerNodePorts;
    if (spec.loadBalancerClass === stored.loadBalancerClass) delete spec.loadBalancerClass;
  }
}

/** Keeps node ports by port name, unless another port has the node port now. */
function keepNodePorts(spec: Spec, stored: Spec): void {
  const used = new Set((spec.ports ?? []).map(({ nodePort }) => nodePort));
  const before = new Map((stored.ports ?? []).map(({ name = "", nodePort }) => [name, nodePort]));
  for (const port of spec.ports ?? []) {
    const storedPort = before.get(port.name ?? "");
    if (!port.nodePort && storedPort !== undefined && !used.has(storedPort)) port.nodePort = storedPort;
  }
}

/**
 * Keeps `clusterIP` equal to the first of `clusterIPs`, for clients that know only one of the fields. Upstream:
 * `normalizeClusterIPs`.
 */
function normalizeClusterIPs(spec: Spec, stored: Spec | undefined): void {
  const { clusterIP, clusterIPs = [] } = spec;
  if (stored === undefined) {
    if (clusterIP && clusterIPs.length === 0) spec.clusterIPs = [clusterIP];
    return;
  }
  if (clusterIP === stored.clusterIP || !jsonEqual(clusterIPs, stored.clusterIPs ?? [])) return;
  if (!clusterIP) delete spec.clusterIPs;
  else spec.clusterIPs = [clusterIP, ...clusterIPs.slice(1)];
}

/** Upstream: `initIPFamilyFields`, `allocClusterIPs`. */
function allocateAddress(spec: Spec, attributes: AdmissionAttributes, errors: FieldErrors): void {
  if (!needsAddress(spec)) return;
  validateClusterIPs(spec, errors);
  if (!errors.isEmpty) return;
  chooseFamilies(spec, errors);
  if (!errors.isEmpty || isHeadless(spec)) return;
  const allocated = new Set<string>();
  for (const other of otherServices(attributes)) for (const address of other.clusterIPs ?? []) allocated.add(address);
  const requested = spec.clusterIPs?.[0];
  if (requested === undefined) {
    const address = freeAddress(allocated);
    spec.clusterIP = address;
    spec.clusterIPs = [address];
    return;
  }
  const reason = !isInCidr(requested, RANGE.cidr)
    ? `the provided IP (${requested}) is not in the valid range. The range of valid IPs is ${RANGE.cidr}`
    : allocated.has(requested)
      ? "provided IP is already allocated"
      : undefined;
  if (reason !== undefined)
    errors.invalid("spec.clusterIPs", spec.clusterIPs, `failed to allocate IP ${requested}: ${reason}`);
}

/** Sets IP families. The cluster is single-stack IPv4. */
function chooseFamilies(spec: Spec, errors: FieldErrors): void {
  const field = "spec.ipFamilyPolicy";
  const { clusterIPs = [], ipFamilies = [], ipFamilyPolicy } = spec;
  const needsTwo = "must be RequireDualStack or PreferDualStack when multiple";
  if ((ipFamilyPolicy ?? "SingleStack") === "SingleStack") {
    if (clusterIPs.length === 2) errors.invalid(field, ipFamilyPolicy, `${needsTwo} clusterIPs are specified`);
    if (ipFamilies.length === 2) errors.invalid(field, ipFamilyPolicy, `${needsTwo} ipFamilies are specified`);
    if (!errors.isEmpty) return;
  }
  const families = [...ipFamilies];
  for (const address of isHeadless(spec) ? [] : clusterIPs.slice(families.length))
    families.push(ipFamily(address) === 6 ? "IPv6" : "IPv4");
  if (isHeadless(spec) && Object.keys(spec.selector ?? {}).length === 0) {
    // The author of the endpoints may use any family.
    const policy = (spec.ipFamilyPolicy ??= "RequireDualStack");
    if (families.length === 0) families.push("IPv4");
    if (families.length < 2 && policy !== "SingleStack") families.push(families[0] === "IPv4" ? "IPv6" : "IPv4");
    spec.ipFamilies = families;
    return;
  }
  for (const [index, family] of families.entries())
    if (family !== "IPv4") errors.invalid(`spec.ipFamilies[${index}]`, family, "not configured on this cluster");
  if (!errors.isEmpty) return;
  if (ipFamilyPolicy === "RequireDualStack")
    return errors.invalid(field, ipFamilyPolicy, "this cluster is not configured for dual-stack services");
  spec.ipFamilies = families.length === 0 ? ["IPv4"] : families;
  spec.ipFamilyPolicy ??= "SingleStack";
}

/** Allocates node ports. Ports with the same number, as for TCP and UDP, share one. Upstream: `allocNodePorts`. */
function allocateNodePorts(spec: Spec, attributes: AdmissionAttributes, errors: FieldErrors): void {
  const allocated = new Set<number>();
  for (const other of otherServices(attributes)) {
    for (const { nodePort } of other.ports ?? []) if (nodePort) allocated.add(nodePort);
    if (other.healthCheckNodePort) allocated.add(other.healthCheckNodePort);
  }
  const before = new Set((storedSpec(attributes)?.ports ?? []).map((port) => port.nodePort));
  const ports = spec.ports ?? [];
  const byPort = new Map<number, number>();
  const allocate = (nodePort: number, field: string): void => {
    const reason = allocated.has(nodePort)
      ? "provided port is already allocated"
      : !attributes.dryRun && (nodePort < NODE_PORTS.first || nodePort > NODE_PORTS.last)
        ? `provided port is not in the valid range. The range of valid ports is ${NODE_PORTS.first}-${NODE_PORTS.last}`
        : undefined;
    if (reason !== undefined && !before.has(nodePort)) errors.invalid(field, nodePort, reason);
    allocated.add(nodePort);
  };
  const requested = new Map<number, number>();
  for (const { port, nodePort } of ports) if (nodePort && !requested.has(port)) requested.set(port, nodePort);
  for (const [index, port] of ports.entries()) {
    const field = `spec.ports[${index}].nodePort`;
    const shared = byPort.get(port.port);
    if (shared === undefined) {
      const requestedPort = requested.get(port.port);
      if (requestedPort !== undefined) allocate(requestedPort, field);
      port.nodePort = requestedPort ?? freePort(allocated);
      allocated.add(port.nodePort);
      byPort.set(port.port, port.nodePort);
    } else if (!port.nodePort) port.nodePort = shared;
    else if (port.nodePort !== shared) allocate(port.nodePort, field);
    if (!errors.isEmpty) return;
  }
  if (!needsHealthCheck(spec)) return;
  if (!spec.healthCheckNodePort) spec.healthCheckNodePort = freePort(allocated);
  else if (spec.healthCheckNodePort !== storedSpec(attributes)?.healthCheckNodePort)
    allocate(spec.healthCheckNodePort, "spec.healthCheckNodePort");
}

/** Yields all other Services. The number of Services with an address is bounded by the range. */
function* otherServices({ resource, namespace, name }: AdmissionAttributes): Generator<Spec> {
  for (const { object } of resource.storage.list()) {
    const { metadata, spec } = object as Service;
    const isItself = metadata.name === name && metadata.namespace === namespace;
    if (spec !== undefined && !isItself) yield spec;
  }
}

/** @throws ApiError 500 when the range is full */
function freeAddress(allocated: ReadonlySet<string>): string {
  const isFree = (last: number): boolean => !allocated.has(`${RANGE.prefix}${last}`);
  const last = firstFree(RANGE, STATIC_RANGE_SIZES.addresses, isFree);
  if (last === undefined) throw internalError("failed to allocate a serviceIP: range is full");
  return `${RANGE.prefix}${last}`;
}

/** @throws ApiError 500 when the range is full */
function freePort(allocated: ReadonlySet<number>): number {
  const port = firstFree(NODE_PORTS, STATIC_RANGE_SIZES.nodePorts, (number) => !allocated.has(number));
  if (port === undefined) throw internalError("failed to allocate a nodePort: range is full");
  return port;
}

/** Returns the lowest free value above the static part of the range, or else the lowest within it. */
function firstFree(
  { first, last }: { first: number; last: number },
  staticSize: number,
  isFree: (value: number) => boolean,
): number | undefined {
  for (let value = first + staticSize; value <= last; value++) if (isFree(value)) return value;
  for (let value = first; value < first + staticSize; value++) if (isFree(value)) return value;
  return undefined;
}
