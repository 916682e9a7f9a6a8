import type { Container, PodSpec } from "@kubewright/api";

/**
 * Visits init containers, containers and ephemeral containers, in upstream's order. Upstream:
 * `VisitContainersWithPath`.
 */
export function visitContainers(
  spec: PodSpec,
  path: string,
  visit: (container: Container, path: string) => void,
): void {
  for (const field of ["initContainers", "containers", "ephemeralContainers"] as const)
    for (const [index, container] of (spec[field] ?? []).entries()) visit(container, `${path}.${field}[${index}]`);
}
