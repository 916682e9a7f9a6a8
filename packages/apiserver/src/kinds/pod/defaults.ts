import { type Container, type Pod, type PodSpec, formatQuantity } from "@kubewright/api";

import { copyMembers } from "../../json.js";
import { containerLimits, containerRequests } from "./container-requests.js";
import { isHugePages } from "./resource-names.js";
import { applyPodSpecDefaults } from "./template-defaults.js";

type Resources = NonNullable<Container["resources"]>;

/** Upstream: `SetDefaults_Pod`, and the conversion that keeps `podIP` equal to the first of `podIPs`. */
export function applyPodDefaults(pod: Pod, stored?: Pod): void {
  const { spec, status } = pod;
  if (spec !== undefined && spec !== stored?.spec) {
    applyPodSpecDefaults(spec);
    pod.spec = withPodDefaults(spec);
  }
  if (status?.podIP) {
    if (status.podIPs?.[0]?.ip !== status.podIP) status.podIPs = [{ ip: status.podIP }];
  } else if (status?.podIPs?.[0]?.ip) status.podIP = status.podIPs[0].ip;
}

/**
 * Applies the defaults that pod templates do not get. Does not change the spec, which may be shared with a template;
 * returns the same spec when nothing is missing.
 */
function withPodDefaults(spec: PodSpec): PodSpec {
  const { enableServiceLinks, initContainers, resources } = spec;
  const containers = spec.containers?.some(lacksRequests) ? spec.containers.map(withRequests) : spec.containers;
  const initial = initContainers?.some(lacksRequests) ? initContainers.map(withRequests) : initContainers;
  if (
    enableServiceLinks !== undefined &&
    resources === undefined &&
    containers === spec.containers &&
    initial === initContainers
  )
    return spec;
  const result: PodSpec = copyMembers(spec);
  result.enableServiceLinks ??= true;
  if (containers !== spec.containers) result.containers = containers;
  if (initial !== undefined) result.initContainers = initial;
  if (resources !== undefined) result.resources = withPodResources(result, resources);
  return result;
}

/**
 * Defaults pod-level requests to the aggregate requests of the containers, or else to the pod's limits. Limits of huge
 * pages default to the containers' limits.
 *
 * Upstream: `defaultHugePagePodLimits`, `defaultPodRequests` of `pkg/apis/core/v1`.
 */
function withPodResources(spec: PodSpec, resources: Resources): Resources {
  const { limits: givenLimits = {}, requests: givenRequests = {} } = resources;
  if (Object.keys(givenLimits).length === 0 && Object.keys(givenRequests).length === 0) return resources;
  const limits = { ...givenLimits };
  for (const [name, limit] of containerLimits(spec)) if (isHugePages(name)) limits[name] ??= formatQuantity(limit);
  const requests = { ...givenRequests };
  if (Object.keys(limits).length > 0) {
    for (const [name, request] of containerRequests(spec))
      if (name === "cpu" || name === "memory") requests[name] ??= formatQuantity(request);
    for (const [name, limit] of Object.entries(limits))
      if (name === "cpu" || name === "memory" || isHugePages(name)) requests[name] ??= limit;
  }
  const result = { ...resources };
  if (Object.keys(limits).length > 0) result.limits = limits;
  if (Object.keys(requests).length > 0) result.requests = requests;
  return result;
}

function lacksRequests({ resources }: Container): boolean {
  const limits = resources?.limits;
  return limits !== undefined && Object.keys(limits).some((name) => resources?.requests?.[name] === undefined);
}

/** Defaults requests to limits. */
function withRequests(container: Container): Container {
  if (!lacksRequests(container)) return container;
  const requests = { ...container.resources?.requests };
  for (const [name, limit] of Object.entries(container.resources?.limits ?? {})) requests[name] ??= limit;
  return { ...container, resources: { ...container.resources, requests } };
}
