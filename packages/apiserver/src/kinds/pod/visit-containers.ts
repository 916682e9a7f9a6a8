import type { Container, PodSpec } from "@kubewright/api";

/** In upstream's order: init containers, containers, ephemeral containers. Upstream: `VisitContainersWithPath`. */
export function visitContainers(
  spec: PodSpec,
  path: string,
  visit: (container: Container, path: string) => void,
): void {
  for (const field of ["initContainers", "containers", "ephemeralContainers"] as const)
    for (const [index, container] of (spec[field] ?? []).entries()) visit(container, `${path}.${field}[${index}]`);
}
