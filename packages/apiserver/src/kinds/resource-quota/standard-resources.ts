/**
 * Resources that a quota may limit by their plain name. Upstream: `standardQuotaResources`,
 * `IsStandardQuotaResourceName`.
 */
const STANDARD = new Set(
  "cpu memory ephemeral-storage requests.cpu requests.memory requests.storage requests.ephemeral-storage limits.cpu limits.memory limits.ephemeral-storage pods services replicationcontrollers resourcequotas secrets persistentvolumeclaims configmaps services.nodeports services.loadbalancers".split(
    " ",
  ),
);

export function isQuotaResource(name: string): boolean {
  return STANDARD.has(name) || name.startsWith("hugepages-") || name.startsWith("requests.hugepages-");
}
