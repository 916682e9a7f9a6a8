import type { Service } from "@kubewright/api";
import {
  dnsLabelErrors,
  dnsSubdomainErrors,
  ipAddressErrors,
  ipFamily,
  portNameErrors,
  portNumberErrors,
  qualifiedNameErrors,
} from "@kubewright/api/validation";

import type { FieldErrors } from "../../field-errors.js";
import { jsonEqual } from "../../json.js";
import { validateLabels } from "../../metadata-validation.js";
import { cidrErrors, specialAddressErrors } from "../../validation/ip-address.js";
import {
  addInvalid,
  validateChoice,
  validateRequired,
  validateSupported,
  validateUnique,
} from "../../validation/rules.js";
import { internalForm } from "../internal-form.js";
import { validateClusterIPs } from "./cluster-ips-validation.js";
import { isHeadless, isExternallyAccessible, needsHealthCheck } from "./service-requirements.js";

type Spec = NonNullable<Service["spec"]>;
type Port = NonNullable<Spec["ports"]>[number];

const TYPES = ["ClusterIP", "ExternalName", "LoadBalancer", "NodePort"];
const PROTOCOLS = ["SCTP", "TCP", "UDP"];
const AFFINITIES = ["ClientIP", "None"];
const TRAFFIC_POLICIES = ["Cluster", "Local"];
const DISTRIBUTIONS = ["PreferClose", "PreferSameZone", "PreferSameNode"];
const IP_MODES = ["Proxy", "VIP"];
const MAX_AFFINITY_SECONDS = 86400;
const SOURCE_RANGES = "service.beta.kubernetes.io/load-balancer-source-ranges";
const ONLY_BALANCERS = "may only be used when `type` is 'LoadBalancer'";

/** Upstream: `ValidateService`. */
export function validateService({ metadata, spec = {} }: Service, errors: FieldErrors): void {
  const { type, ports = [] } = spec;
  if (ports.length === 0 && !isHeadless(spec) && type !== "ExternalName") errors.required("spec.ports");
  if (isHeadless(spec) && (type === "LoadBalancer" || type === "NodePort"))
    errors.invalid("spec.clusterIPs[0]", "None", `may not be set to 'None' for ${type} services`);
  if (type === "ExternalName") validateExternalName(spec, errors);
  const names = new Set<string>();
  for (const [index, port] of ports.entries())
    validatePort(port, ports.length > 1, names, `spec.ports[${index}]`, errors);
  validateLabels(spec.selector ?? {}, "spec.selector", errors);
  validateAffinity(spec, errors);
  validateClusterIPs(spec, errors);
  for (const [index, address] of (spec.externalIPs ?? []).entries()) {
    const sentences = ipAddressErrors(address);
    const field = `spec.externalIPs[${index}]`;
    addInvalid(errors, field, address, sentences.length > 0 ? sentences : specialAddressErrors(address));
  }
  validateChoice(type, TYPES, "spec.type", errors);
  validatePortsTogether(spec, errors);
  validateSourceRanges(spec, metadata.annotations?.[SOURCE_RANGES], errors);
  if (spec.allocateLoadBalancerNodePorts !== undefined && type !== "LoadBalancer")
    errors.forbidden("spec.allocateLoadBalancerNodePorts", ONLY_BALANCERS);
  validateBalancerClass(spec, errors);
  validateTraffic(spec, errors);
}

/** Upstream: `ValidateServiceUpdate`. */
export function validateServiceUpdate(service: Service, stored: Service, errors: FieldErrors): void {
  const { spec = {} } = service;
  const { spec: before = {} } = stored;
  if (spec.type !== "ExternalName" && before.type !== "ExternalName") {
    if (!isHeadless(spec) || !isHeadless(before)) validateClusterIPsUpdate(spec, before, errors);
    if (!isHeadless(spec) && !isHeadless(before)) validateFamiliesUpdate(spec, before, errors);
  }
  if (
    spec.type === "LoadBalancer" &&
    before.type === "LoadBalancer" &&
    spec.loadBalancerClass !== before.loadBalancerClass
  )
    errors.invalid("spec.loadBalancerClass", spec.loadBalancerClass, "may not change once set");
  if (needsHealthCheck(spec) && needsHealthCheck(before) && spec.healthCheckNodePort !== before.healthCheckNodePort)
    errors.forbidden("spec.healthCheckNodePort", "field is immutable");
  validateService(service, errors);
}

/**
 * Validates that the primary cluster IP does not change. A secondary one may be added or removed. Upstream:
 * `validateUpgradeDowngradeClusterIPs`.
 */
function validateClusterIPsUpdate(spec: Spec, before: Spec, errors: FieldErrors): void {
  const now = spec.clusterIPs ?? [];
  const old = before.clusterIPs ?? [];
  const changed = (index: number): void => {
    if (old[index] !== now[index]) errors.invalid(`spec.clusterIPs[${index}]`, now, "may not change once set");
  };
  if (old.length === now.length) {
    for (const index of old.keys()) changed(index);
    return;
  }
  if (now.length === 0) errors.invalid("spec.clusterIPs[0]", now, "primary clusterIP can not be unset");
  else if (old.length > 0) changed(0);
  if (old.length > now.length && now.length === 1 && spec.ipFamilyPolicy !== "SingleStack") {
    const detail = "must be set to 'SingleStack' when releasing the secondary clusterIP";
    errors.invalid("spec.ipFamilyPolicy", spec.ipFamilyPolicy, detail);
  }
}

/** Upstream: `validateUpgradeDowngradeIPFamilies`. */
function validateFamiliesUpdate(spec: Spec, before: Spec, errors: FieldErrors): void {
  const now = spec.ipFamilies ?? [];
  const old = before.ipFamilies ?? [];
  if (old.length === now.length) {
    for (const [index, family] of old.entries())
      if (family !== now[index]) errors.invalid("spec.ipFamilies[0]", now, "may not change once set");
    return;
  }
  if (old.length > 0 && now.length > 0 && old[0] !== now[0])
    errors.invalid("spec.ipFamilies[0]", spec.clusterIPs ?? [], "may not change once set");
  if (old.length > now.length && now.length === 1 && spec.ipFamilyPolicy !== "SingleStack") {
    const detail = "must be set to 'SingleStack' when releasing the secondary ipFamily";
    errors.invalid("spec.ipFamilyPolicy", spec.ipFamilyPolicy, detail);
  }
}

/** Upstream: `ValidateLoadBalancerStatus`. */
export function validateServiceStatus({ spec, status }: Service, stored: Service, errors: FieldErrors): void {
  const ingress = status?.loadBalancer?.ingress ?? [];
  const field = "status.loadBalancer.ingress";
  if (jsonEqual(ingress, stored.status?.loadBalancer?.ingress ?? [])) return;
  if (ingress.length > 0 && spec?.type !== "LoadBalancer")
    return errors.forbidden(field, "may only be used when `spec.type` is 'LoadBalancer'");
  for (const [index, { ip, ipMode, hostname }] of ingress.entries()) {
    const at = `${field}[${index}]`;
    if (ip) addInvalid(errors, `${at}.ip`, ip, ipAddressErrors(ip));
    if (ipMode === undefined) {
      if (ip) errors.required(`${at}.ipMode`, "must be specified when `ip` is set");
    } else if (!ip) errors.forbidden(`${at}.ipMode`, "may not be specified when `ip` is not set");
    else validateSupported(ipMode, IP_MODES, `${at}.ipMode`, errors);
    if (!hostname) continue;
    addInvalid(errors, `${at}.hostname`, hostname, dnsSubdomainErrors(hostname));
    if (ipFamily(hostname) !== undefined)
      errors.invalid(`${at}.hostname`, hostname, "must be a DNS name, not an IP address");
  }
}

/** Validates that an ExternalName Service has a valid name and no cluster IPs. */
function validateExternalName(spec: Spec, errors: FieldErrors): void {
  const detail = "may not be set for ExternalName services";
  if ((spec.clusterIPs?.length ?? 0) > 0) errors.forbidden("spec.clusterIPs", detail);
  if ((spec.ipFamilies?.length ?? 0) > 0) errors.forbidden("spec.ipFamilies", detail);
  if (spec.ipFamilyPolicy !== undefined) errors.forbidden("spec.ipFamilyPolicy", detail);
  const name = (spec.externalName ?? "").replace(/\.$/, "");
  validateRequired(name, dnsSubdomainErrors, "spec.externalName", errors);
}

/** Upstream: `validateServicePort`. */
function validatePort(
  { name = "", port, protocol, targetPort, appProtocol }: Port,
  needsName: boolean,
  names: Set<string>,
  at: string,
  errors: FieldErrors,
): void {
  if (name === "") {
    if (needsName) errors.required(`${at}.name`);
  } else {
    addInvalid(errors, `${at}.name`, name, dnsLabelErrors(name));
    validateUnique(name, names, `${at}.name`, errors);
  }
  addInvalid(errors, `${at}.port`, port, portNumberErrors(port));
  validateChoice(protocol, PROTOCOLS, `${at}.protocol`, errors);
  const target = targetPort ?? 0;
  const sentences = typeof target === "number" ? portNumberErrors(target) : portNameErrors(target);
  addInvalid(errors, `${at}.targetPort`, target, sentences);
  if (appProtocol !== undefined) addInvalid(errors, `${at}.appProtocol`, appProtocol, qualifiedNameErrors(appProtocol));
}

function validatePortsTogether({ type, ports = [] }: Spec, errors: FieldErrors): void {
  if (type === "ClusterIP") {
    for (const [index, { nodePort }] of ports.entries())
      if (nodePort) errors.forbidden(`spec.ports[${index}].nodePort`, "may not be used when `type` is 'ClusterIP'");
  }
  const nodePorts = new Set<string>();
  for (const [index, { nodePort, protocol }] of ports.entries()) {
    if (!nodePort) continue;
    const key = `${protocol} ${nodePort}`;
    if (nodePorts.has(key)) errors.duplicate(`spec.ports[${index}].nodePort`, nodePort);
    nodePorts.add(key);
  }
  const numbers = new Set<string>();
  for (const [index, { port, protocol = "" }] of ports.entries()) {
    const key = `${protocol} ${port}`;
    if (numbers.has(key)) errors.duplicate(`spec.ports[${index}]`, internalForm("ServicePort", { port, protocol }));
    numbers.add(key);
  }
}

function validateAffinity({ sessionAffinity, sessionAffinityConfig }: Spec, errors: FieldErrors): void {
  validateChoice(sessionAffinity, AFFINITIES, "spec.sessionAffinity", errors);
  if (sessionAffinity !== "ClientIP") return;
  const seconds = sessionAffinityConfig?.clientIP?.timeoutSeconds ?? 0;
  if (seconds > 0 && seconds <= MAX_AFFINITY_SECONDS) return;
  const field = "spec.sessionAffinityConfig.clientIP.timeoutSeconds";
  errors.invalid(field, seconds, `must be greater than 0 and less than ${MAX_AFFINITY_SECONDS}`);
}

/** Validates the field or, if it is empty, the older annotation. */
function validateSourceRanges(spec: Spec, annotation: string | undefined, errors: FieldErrors): void {
  const { type, loadBalancerSourceRanges: ranges = [] } = spec;
  if (ranges.length > 0) {
    // The path has upstream's spelling, with a capital letter.
    const field = "spec.LoadBalancerSourceRanges";
    if (type !== "LoadBalancer") errors.forbidden(field, ONLY_BALANCERS);
    for (const [index, range] of ranges.entries())
      addInvalid(errors, `${field}[${index}]`, range.trim(), cidrErrors(range.trim()));
  } else if (annotation !== undefined) {
    const field = `metadata.annotations[${SOURCE_RANGES}]`;
    if (type !== "LoadBalancer") errors.forbidden(field, ONLY_BALANCERS);
    for (const range of annotation.trim() === "" ? [] : annotation.split(","))
      addInvalid(errors, field, range.trim(), cidrErrors(range.trim()));
  }
}

function validateBalancerClass({ type, loadBalancerClass: name }: Spec, errors: FieldErrors): void {
  if (name === undefined) return;
  if (type === "LoadBalancer") addInvalid(errors, "spec.loadBalancerClass", name, qualifiedNameErrors(name));
  else errors.forbidden("spec.loadBalancerClass", ONLY_BALANCERS);
}

/** Validates traffic policies, the health check port and the traffic distribution. */
function validateTraffic(spec: Spec, errors: FieldErrors): void {
  const { type, externalTrafficPolicy, internalTrafficPolicy, trafficDistribution, healthCheckNodePort } = spec;
  const field = "spec.externalTrafficPolicy";
  if (isExternallyAccessible(spec)) validateChoice(externalTrafficPolicy, TRAFFIC_POLICIES, field, errors);
  else if (externalTrafficPolicy)
    errors.invalid(field, externalTrafficPolicy, "may only be set for externally-accessible services");
  if (needsHealthCheck(spec)) {
    validateRequired(healthCheckNodePort, portNumberErrors, "spec.healthCheckNodePort", errors);
  } else if (healthCheckNodePort) {
    const detail = "may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'";
    errors.invalid("spec.healthCheckNodePort", healthCheckNodePort, detail);
  }
  if (internalTrafficPolicy !== undefined)
    validateSupported(internalTrafficPolicy, TRAFFIC_POLICIES, "spec.internalTrafficPolicy", errors);
  else if (type === "NodePort" || type === "LoadBalancer" || type === "ClusterIP")
    errors.required("spec.internalTrafficPolicy");
  validateSupported(trafficDistribution, DISTRIBUTIONS, "spec.trafficDistribution", errors);
}
