import type { DeepReadonly, PodSpec } from "@kubewright/api";

type NodeAffinity = NonNullable<NonNullable<PodSpec["affinity"]>["nodeAffinity"]>;

/** What a pod requires of its node: all that one of the terms says. */
export type NodeSelector = NonNullable<NodeAffinity["requiredDuringSchedulingIgnoredDuringExecution"]>;
export type NodeSelectorTerm = NodeSelector["nodeSelectorTerms"][number];
export type NodeSelectorRequirement = NonNullable<NodeSelectorTerm["matchExpressions"]>[number];

type Labels = Readonly<Record<string, string>>;

/**
 * Whether a node is one that the selector takes. A term that says nothing takes none.
 *
 * Upstream: k8s.io/component-helpers/scheduling/corev1/nodeaffinity NodeSelector.Match.
 */
export function matchesNodeAffinity(selector: DeepReadonly<NodeSelector>, name: string, labels: Labels = {}): boolean {
  return selector.nodeSelectorTerms.some(({ matchExpressions = [], matchFields = [] }) => {
    if (matchExpressions.length + matchFields.length === 0) return false;
    return (
      matchExpressions.every((requirement) => matchesRequirement(requirement, labels[requirement.key])) &&
      // The API server lets no other field through.
      matchFields.every((requirement) => requirement.key === "metadata.name" && matchesRequirement(requirement, name))
    );
  });
}

/** Upstream: k8s.io/apimachinery/pkg/labels Requirement.Matches. */
function matchesRequirement(
  { operator, values = [] }: DeepReadonly<NodeSelectorRequirement>,
  value: string | undefined,
): boolean {
  switch (operator) {
    case "In":
      return value !== undefined && values.includes(value);
    case "NotIn":
      return value === undefined || !values.includes(value);
    case "Exists":
      return value !== undefined;
    case "DoesNotExist":
      return value === undefined;
    case "Gt":
    case "Lt": {
      const [label, limit] = [parseInteger(value), parseInteger(values[0])];
      if (label === undefined || limit === undefined) return false;
      return operator === "Gt" ? label > limit : label < limit;
    }
    default:
      return false;
  }
}

function parseInteger(text: string | undefined): bigint | undefined {
  return text !== undefined && /^[+-]?\d+$/.test(text) ? BigInt(text.replace(/^\+/, "")) : undefined;
}
