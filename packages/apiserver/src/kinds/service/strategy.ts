import { mutableCopy, type Service, services } from "@kubewright/api";

import { builtInResource } from "../../built-in-resource.js";
import { dropMember } from "../../json.js";
import type { ResourceStrategy } from "../../strategy.js";
import { ageCell, table } from "../table-cells.js";
import { serviceAllocation } from "./allocation.js";
import { isExternallyAccessible } from "./service-requirements.js";
import { validateService, validateServiceStatus, validateServiceUpdate } from "./validation.js";

type Spec = NonNullable<Service["spec"]>;

/** Stores Services; the server routes no traffic. Upstream: `pkg/registry/core/service`. */
export const serviceStrategy: ResourceStrategy<Service> = {
  nameFormat: "dns-1123-label",
  deleteReturnsObject: true,
  applyDefaults: applyServiceDefaults,
  prepareForCreate(service) {
    service.status = { loadBalancer: {} };
  },
  prepareForUpdate(service, stored) {
    if (stored.status === undefined) delete service.status;
    else service.status = mutableCopy(stored.status);
  },
  validateCreate: validateService,
  validateUpdate: validateServiceUpdate,
  warningsOnCreate: serviceWarnings,
  warningsOnUpdate: serviceWarnings,
  status: {
    prepareForUpdate(service, stored) {
      if (stored.spec === undefined) delete service.spec;
      else service.spec = mutableCopy(stored.spec);
    },
    validateUpdate: validateServiceStatus,
  },
  fieldSelectors: {
    "spec.clusterIP": ({ spec }) => spec?.clusterIP ?? "",
    "spec.type": ({ spec }) => spec?.type ?? "",
  },
  printer: table<Service>({
    Type: (service) => service.spec?.type ?? "",
    "Cluster-IP": (service) => service.spec?.clusterIPs?.[0] ?? "<none>",
    "External-IP": (service) => externalCell(service),
    "Port(s)": (service) => portsCell(service.spec),
    Age: ageCell,
    "Selector*": (service) => selectorCell(service.spec?.selector),
  }),
};

export const serviceResource = builtInResource<Service>({
  definition: services,
  shortNames: ["svc"],
  categories: ["all"],
  strategy: serviceStrategy,
  admission: serviceAllocation,
});

/** Upstream: `SetDefaults_Service`. */
function applyServiceDefaults({ spec, status }: Service): void {
  for (const address of spec?.type === "LoadBalancer" ? (status?.loadBalancer?.ingress ?? []) : [])
    if (address.ip) address.ipMode ??= "VIP";
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
  if (spec.sessionAffinity === "None") dropMember(spec, "sessionAffinityConfig");
  if (isExternallyAccessible(spec)) spec.externalTrafficPolicy ||= "Cluster";
  if (spec.type !== "ExternalName") spec.internalTrafficPolicy ||= "Cluster";
  if (spec.type === "LoadBalancer") spec.allocateLoadBalancerNodePorts ??= true;
}

/** Upstream: `GetWarningsForService`. */
function serviceWarnings({ spec }: Service): string[] {
  const warnings: string[] = [];
  const hasExternalIPs = (spec?.externalIPs?.length ?? 0) > 0;
  if (spec?.clusterIP === "None") {
    if (spec.loadBalancerIP) warnings.push("spec.loadBalancerIP is ignored for headless services");
    if (hasExternalIPs) warnings.push("spec.externalIPs is ignored for headless services");
    if (spec.sessionAffinity === "ClientIP") warnings.push("spec.SessionAffinity is ignored for headless services");
  }
  if (spec?.type === "ExternalName") {
    if (hasExternalIPs) warnings.push('spec.externalIPs is ignored when spec.type is "ExternalName"');
  } else if (spec?.externalName) warnings.push('spec.externalName is ignored when spec.type is not "ExternalName"');
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
