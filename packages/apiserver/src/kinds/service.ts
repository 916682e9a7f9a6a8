import { mutableCopy, type Service, services } from "@kubewright/api";

import { builtInResource, standardVerbs } from "../built-in-resource.js";
import type { FieldErrors } from "../field-errors.js";
import { validateLabels } from "../metadata-validation.js";
import { dnsLabelErrors, dnsSubdomainErrors } from "../names.js";
import type { ResourceStrategy } from "../strategy.js";
import { ipAddressErrors, ipFamily, portNameErrors, portNumberErrors } from "../validation/formats.js";
import { addInvalid } from "../validation/rules.js";
import { age, columns } from "./table-cells.js";

type Spec = NonNullable<Service["spec"]>;

const TYPES = ["ClusterIP", "ExternalName", "LoadBalancer", "NodePort"];
const PROTOCOLS = ["SCTP", "TCP", "UDP"];
const AFFINITIES = ["ClientIP", "None"];
const NODE_PORTS = { first: 30000, count: 2768 };

/**
 * Services are stored, not served: addresses and node ports are derived from the object's uid, without a look at what
 * others have.
 *
 * Upstream: `pkg/registry/core/service`, `ValidateService`.
 */
export const serviceStrategy: ResourceStrategy<Service> = {
  nameFormat: "dns-1123-label",
  deleteReturnsObject: true,
  applyDefaults: ({ spec }) => applyServiceDefaults(spec),
  prepareForCreate(service) {
    service.status = { loadBalancer: {} };
    allocate(service, undefined);
  },
  prepareForUpdate(service, stored) {
    if (stored.status === undefined) delete service.status;
    else service.status = mutableCopy(stored.status);
    if (service.spec !== undefined) service.spec = mutableCopy(service.spec);
    allocate(service, stored);
  },
  validateCreate: validateService,
  validateUpdate(service, stored, errors) {
    const before = stored.spec?.clusterIPs?.[0];
    const address = service.spec?.clusterIPs?.[0];
    const bothHaveAddresses = service.spec?.type !== "ExternalName" && stored.spec?.type !== "ExternalName";
    if (bothHaveAddresses && before !== undefined && address !== before) {
      errors.invalid("spec.clusterIPs[0]", service.spec?.clusterIPs ?? null, "may not change once set");
    }
    validateService(service, errors);
  },
  warningsOnCreate: serviceWarnings,
  warningsOnUpdate: serviceWarnings,
  status: {
    prepareForUpdate(service, stored) {
      if (stored.spec === undefined) delete service.spec;
      else service.spec = mutableCopy(stored.spec);
    },
  },
  fieldSelectors: {
    "spec.clusterIP": ({ spec }) => spec?.clusterIP ?? "",
    "spec.type": ({ spec }) => spec?.type ?? "",
  },
  printer: {
    columns: columns("Name", "Type", "Cluster-IP", "External-IP", "Port(s)", "Age", "Selector*"),
    cells: (service, nowMs) => [
      service.metadata.name ?? "",
      service.spec?.type ?? "",
      service.spec?.clusterIPs?.[0] ?? "<none>",
      externalCell(service),
      portsCell(service.spec),
      age(service.metadata.creationTimestamp, nowMs),
      selectorCell(service.spec?.selector),
    ],
  },
};

export const serviceResource = builtInResource<Service>({
  definition: services,
  singular: "service",
  shortNames: ["svc"],
  categories: ["all"],
  listKind: "ServiceList",
  verbs: standardVerbs,
  strategy: serviceStrategy,
});

/** Upstream: `SetDefaults_Service`. */
function applyServiceDefaults(spec: Spec | undefined): void {
  if (spec === undefined) return;
  spec.sessionAffinity ||= "None";
  spec.type ||= "ClusterIP";
  if (spec.sessionAffinity === "ClientIP" && spec.sessionAffinityConfig?.clientIP?.timeoutSeconds === undefined) {
    spec.sessionAffinityConfig = { clientIP: { timeoutSeconds: 10800 } };
  }
  for (const port of spec.ports ?? []) {
    port.protocol ||= "TCP";
    if (!port.targetPort) port.targetPort = port.port;
  }
  if (spec.type === "NodePort" || spec.type === "LoadBalancer") spec.externalTrafficPolicy ||= "Cluster";
  if (spec.type !== "ExternalName") spec.internalTrafficPolicy ||= "Cluster";
  if (spec.type === "LoadBalancer") spec.allocateLoadBalancerNodePorts ??= true;
}

/** What the cluster gives a Service, where the client has not chosen; an update that leaves it out keeps it. */
function allocate({ metadata, spec }: Service, stored: Service | undefined): void {
  if (spec === undefined) return;
  if (spec.type === "ExternalName") {
    delete spec.clusterIP;
    delete spec.clusterIPs;
    return;
  }
  const seed = hash(metadata.uid ?? metadata.name ?? "");
  const address =
    spec.clusterIP ||
    spec.clusterIPs?.[0] ||
    stored?.spec?.clusterIP ||
    `10.${96 + ((seed >>> 16) & 15)}.${(seed >>> 8) & 255}.${1 + (seed % 254)}`;
  spec.clusterIP = address;
  if (spec.clusterIPs?.[0] !== address) spec.clusterIPs = [address];
  spec.ipFamilies ??= stored?.spec?.ipFamilies ?? [ipFamily(address) === 6 ? "IPv6" : "IPv4"];
  spec.ipFamilyPolicy ??= stored?.spec?.ipFamilyPolicy ?? "SingleStack";
  if (spec.type !== "NodePort" && (spec.type !== "LoadBalancer" || spec.allocateLoadBalancerNodePorts === false))
    return;
  for (const [index, port] of (spec.ports ?? []).entries()) {
    const kept = stored?.spec?.ports?.find(
      (other) => other.port === port.port && other.protocol === port.protocol,
    )?.nodePort;
    port.nodePort ||= kept ?? NODE_PORTS.first + ((seed + index) % NODE_PORTS.count);
  }
}

/** FNV-1a. */
function hash(text: string): number {
  let value = 0x811c9dc5;
  for (let index = 0; index < text.length; index++) value = Math.imul(value ^ text.charCodeAt(index), 0x01000193);
  return value >>> 0;
}

function validateService({ spec }: Service, errors: FieldErrors): void {
  const { type = "", ports = [], clusterIP, externalName, sessionAffinity = "" } = spec ?? {};
  const isHeadless = clusterIP === "None";
  if (ports.length === 0 && !isHeadless && type !== "ExternalName") errors.required("spec.ports");
  const names = new Set<string>();
  for (const [index, { name = "", port, protocol = "", targetPort }] of ports.entries()) {
    const at = `spec.ports[${index}]`;
    if (name === "") {
      if (ports.length > 1) errors.required(`${at}.name`);
    } else {
      addInvalid(errors, `${at}.name`, name, dnsLabelErrors(name));
      if (names.has(name)) errors.duplicate(`${at}.name`, name);
      names.add(name);
    }
    addInvalid(errors, `${at}.port`, port, portNumberErrors(port));
    if (protocol === "") errors.required(`${at}.protocol`);
    else if (!PROTOCOLS.includes(protocol)) errors.notSupported(`${at}.protocol`, protocol, PROTOCOLS);
    const target = targetPort ?? 0;
    addInvalid(
      errors,
      `${at}.targetPort`,
      target,
      typeof target === "number" ? portNumberErrors(target) : portNameErrors(target),
    );
  }
  validateLabels(spec?.selector ?? {}, "spec.selector", errors);
  if (sessionAffinity === "") errors.required("spec.sessionAffinity");
  else if (!AFFINITIES.includes(sessionAffinity))
    errors.notSupported("spec.sessionAffinity", sessionAffinity, AFFINITIES);
  if (type !== "ExternalName") {
    for (const [index, address] of (spec?.clusterIPs ?? []).entries()) {
      if (index === 0 && isHeadless) continue;
      addInvalid(errors, `spec.clusterIPs[${index}]`, address, ipAddressErrors(address));
    }
  }
  for (const [index, address] of (spec?.externalIPs ?? []).entries()) {
    addInvalid(errors, `spec.externalIPs[${index}]`, address, ipAddressErrors(address));
  }
  if (type === "") errors.required("spec.type");
  else if (!TYPES.includes(type)) errors.notSupported("spec.type", type, TYPES);
  if (type === "ExternalName") {
    if (!externalName) errors.required("spec.externalName");
    else addInvalid(errors, "spec.externalName", externalName, dnsSubdomainErrors(externalName.replace(/\.$/, "")));
  }
}

/** Upstream: `GetWarningsForService`. */
function serviceWarnings({ spec }: Service): string[] {
  if (spec?.clusterIP !== "None") return [];
  const warnings: string[] = [];
  if (spec.loadBalancerIP) warnings.push("spec.loadBalancerIP is ignored for headless services");
  if ((spec.externalIPs?.length ?? 0) > 0) warnings.push("spec.externalIPs is ignored for headless services");
  if (spec.sessionAffinity === "ClientIP") warnings.push("spec.SessionAffinity is ignored for headless services");
  return warnings;
}

function externalCell({ spec, status }: Service): string {
  const externalIPs = spec?.externalIPs ?? [];
  if (spec?.type === "ExternalName") return spec.externalName ?? "";
  if (spec?.type !== "LoadBalancer") return externalIPs.join(",") || "<none>";
  const ingress = (status?.loadBalancer?.ingress ?? [])
    .map(({ ip, hostname }) => ip || hostname || "")
    .filter((text) => text !== "");
  return [...ingress, ...externalIPs].join(",") || "<pending>";
}

function portsCell(spec: Spec | undefined): string {
  const ports = (spec?.ports ?? []).map(
    ({ port, nodePort, protocol }) => `${port}${nodePort ? `:${nodePort}` : ""}/${protocol}`,
  );
  return ports.join(",") || "<none>";
}

function selectorCell(selector: Readonly<Record<string, string>> | undefined): string {
  const terms = Object.entries(selector ?? {}).map(([key, value]) => `${key}=${value}`);
  return terms.sort().join(",") || "<none>";
}
