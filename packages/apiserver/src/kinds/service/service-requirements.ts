import type { Service } from "@kubewright/api";

type Spec = NonNullable<Service["spec"]>;

/** Whether the type gets a cluster IP. Upstream: `needsClusterIP` and others of `pkg/registry/core/service/storage`. */
export function needsAddress({ type }: Spec): boolean {
  return type === "ClusterIP" || type === "NodePort" || type === "LoadBalancer";
}

export function needsNodePorts({ type, allocateLoadBalancerNodePorts }: Spec): boolean {
  return type === "NodePort" || (type === "LoadBalancer" && allocateLoadBalancerNodePorts !== false);
}

/** Whether a load balancer checks which nodes have pods of the Service. */
export function needsHealthCheck({ type, externalTrafficPolicy }: Spec): boolean {
  return type === "LoadBalancer" && externalTrafficPolicy === "Local";
}

/** Upstream: `ExternallyAccessible`. */
export function isExternallyAccessible({ type, externalIPs }: Spec): boolean {
  return type === "NodePort" || type === "LoadBalancer" || (type === "ClusterIP" && (externalIPs?.length ?? 0) > 0);
}

export function isHeadless({ clusterIPs }: Spec): boolean {
  return clusterIPs?.length === 1 && clusterIPs[0] === "None";
}
