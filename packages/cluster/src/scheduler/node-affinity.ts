import type { DeepReadonly, PodSpec } from "@kubewright/api";

type NodeAffinity = NonNullable<NonNullable<PodSpec["affinity"]>["nodeAffinity"]>;

/** The node selector terms of a pod. A node has to match all requirements of at least one term. */
export type NodeSelector = NonNullable<NodeAffinity["requiredDuringSchedulingIgnoredDuringExecution"]>;
export type NodeSelectorTerm = NodeSelector["nodeSelectorTerms"][number];
export type NodeSelectorRequirement = NonNullable<NodeSelectorTerm["matchExpressions"]>[number];

type Labels = Readonly<Record<string, string>>;

/**
 * Reports whether a node matches the selector. An empty term matches no node.
 *
 * Upstream: k8s.io/component-helpers/scheduling/corev1/nodeaffinity NodeSelector.Match.
 */
export function matchesNodeAffinity(selector: DeepReadonly<NodeSelector>, name: string, labels: Labels = {}): boolean {
  return selector.nodeSelectorTerms.some(({ matchExpressions = [], matchFields = [] }) => {
    if (matchExpressions.length + matchFields.length === 0) return false;
    return (
      matchExpressions.every((requirement) => matchesRequirement(requirement, labels[requirement.key])) &&
      // The API server admits no other field.
      matchFields.every((requirement) => requirement.key === "metadata.name" && matchesRequirement(requirement, name))
    );
  });
}

/**
 * Reports whether a value meets a requirement; `undefined` stands for a missing label.
 *
 * Upstream: k8s.io/apimachinery/pkg/labels Requirement.Matches.
 */
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
