import type { Pod } from "@kubewright/api";

import { applyPodSpecDefaults } from "./template-defaults.js";

/** Upstream: `SetDefaults_Pod`, and the conversion that keeps a status' two forms of the pod's address alike. */
export function applyPodDefaults({ spec, status }: Pod): void {
  if (spec !== undefined) {
    applyPodSpecDefaults(spec);
    spec.enableServiceLinks ??= true;
    for (const { resources } of [...(spec.containers ?? []), ...(spec.initContainers ?? [])]) {
      if (resources?.limits === undefined) continue;
      for (const [name, limit] of Object.entries(resources.limits)) (resources.requests ??= {})[name] ??= limit;
    }
  }
  if (status?.podIP) {
    if (status.podIPs?.[0]?.ip !== status.podIP) status.podIPs = [{ ip: status.podIP }];
  } else if (status?.podIPs?.[0]?.ip) status.podIP = status.podIPs[0].ip;
}
