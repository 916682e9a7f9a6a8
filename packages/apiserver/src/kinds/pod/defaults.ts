import type { Container, Pod, PodSpec } from "@kubewright/api";

import { copyMembers } from "../../json.js";
import { applyPodSpecDefaults } from "./template-defaults.js";

/** Upstream: `SetDefaults_Pod`, and the conversion that keeps a status' two forms of the pod's address alike. */
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

/** What templates do not have. The spec may be a template's: it is not changed, and itself the answer when it has everything. */
function withPodDefaults(spec: PodSpec): PodSpec {
  const { enableServiceLinks, initContainers } = spec;
  const containers = spec.containers?.some(lacksRequests) ? spec.containers.map(withRequests) : spec.containers;
  const initial = initContainers?.some(lacksRequests) ? initContainers.map(withRequests) : initContainers;
  if (enableServiceLinks !== undefined && containers === spec.containers && initial === initContainers) return spec;
  const result: PodSpec = copyMembers(spec);
  result.enableServiceLinks ??= true;
  if (containers !== spec.containers) result.containers = containers;
  if (initial !== undefined) result.initContainers = initial;
  return result;
}

function lacksRequests({ resources }: Container): boolean {
  const limits = resources?.limits;
  return limits !== undefined && Object.keys(limits).some((name) => resources?.requests?.[name] === undefined);
}

/** What is limited and not requested is requested in full. */
function withRequests(container: Container): Container {
  if (!lacksRequests(container)) return container;
  const requests = { ...container.resources?.requests };
  for (const [name, limit] of Object.entries(container.resources?.limits ?? {})) requests[name] ??= limit;
  return { ...container, resources: { ...container.resources, requests } };
}
