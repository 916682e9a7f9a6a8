import type { PriorityClass } from "@kubewright/api";

const PREFIX = "system-";

/** The classes of every cluster. Upstream: `pkg/apis/scheduling/v1` `SystemPriorityClasses`. */
export const systemPriorityClasses: readonly PriorityClass[] = [
  systemClass(
    "system-node-critical",
    2_000_001_000,
    "Used for system critical pods that must not be moved from their current node.",
  ),
  systemClass(
    "system-cluster-critical",
    2_000_000_000,
    "Used for system critical pods that must run in the cluster, but can be moved to another node if necessary.",
  ),
];

export function isSystemName(name: string): boolean {
  return name.startsWith(PREFIX);
}

/**
 * Returns why a class may not have a system name; `undefined` when it equals a system class. Upstream:
 * `IsKnownSystemPriorityClass`.
 */
export function systemNameProblem({ metadata, value, globalDefault = false }: PriorityClass): string | undefined {
  const { name = "" } = metadata;
  const known = systemPriorityClasses.find((systemClass) => systemClass.metadata.name === name);
  if (known === undefined) return `${name} is not a known system priority class`;
  if (known.value !== value) return `value of ${name} PriorityClass must be ${known.value}`;
  return globalDefault ? `globalDefault of ${name} PriorityClass must be false` : undefined;
}

function systemClass(name: string, value: number, description: string): PriorityClass {
  return {
    apiVersion: "scheduling.k8s.io/v1",
    kind: "PriorityClass",
    metadata: { name },
    value,
    description,
    preemptionPolicy: "PreemptLowerPriority",
  };
}
