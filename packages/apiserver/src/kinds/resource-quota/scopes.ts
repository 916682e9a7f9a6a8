import type { Pod, ResourceQuota } from "@kubewright/api";

import { podQosClass } from "../pod/qos-class.js";

export type QuotaSpec = NonNullable<ResourceQuota["spec"]>;
type Requirement = NonNullable<NonNullable<QuotaSpec["scopeSelector"]>["matchExpressions"]>[number];

/** Returns all scope requirements that a pod must match. Upstream: `getScopeSelectorsFromQuota`. */
export function scopesOf({ scopes = [], scopeSelector }: QuotaSpec): readonly Requirement[] {
  return [
    ...scopes.map((scopeName) => ({ scopeName, operator: "Exists" })),
    ...(scopeSelector?.matchExpressions ?? []),
  ];
}

/** Upstream: `podMatchesScopeFunc`. */
export function isPodInScope(pod: Pod, requirement: Requirement): boolean {
  const { spec, status } = pod;
  switch (requirement.scopeName) {
    case "Terminating":
      return (spec?.activeDeadlineSeconds ?? -1) >= 0;
    case "NotTerminating":
      return (spec?.activeDeadlineSeconds ?? -1) < 0;
    case "BestEffort":
      return (status?.qosClass ?? podQosClass(pod)) === "BestEffort";
    case "NotBestEffort":
      return (status?.qosClass ?? podQosClass(pod)) !== "BestEffort";
    case "PriorityClass":
      return selects(requirement, spec?.priorityClassName ?? "");
    case "CrossNamespacePodAffinity":
      return hasAffinityToOtherNamespaces(pod);
    default:
      return false;
  }
}

function selects({ operator, values = [] }: Requirement, value: string): boolean {
  switch (operator) {
    case "Exists":
      return value !== "";
    case "DoesNotExist":
      return value === "";
    case "In":
      return value !== "" && values.includes(value);
    case "NotIn":
      return value === "" || !values.includes(value);
    default:
      return false;
  }
}

/** Upstream: `usesCrossNamespacePodAffinity`. */
function hasAffinityToOtherNamespaces({ spec }: Pod): boolean {
  return [spec?.affinity?.podAffinity, spec?.affinity?.podAntiAffinity].some((affinity) => {
    const terms = [
      ...(affinity?.requiredDuringSchedulingIgnoredDuringExecution ?? []),
      ...(affinity?.preferredDuringSchedulingIgnoredDuringExecution ?? []).map((term) => term.podAffinityTerm),
    ];
    return terms.some(
      ({ namespaces, namespaceSelector }) => (namespaces ?? []).length > 0 || namespaceSelector !== undefined,
    );
  });
}
