import type { DeepReadonly, Pod, PodSpec } from "@kubewright/api";

import { type NodeShape, defaultNodes, nodeObject } from "./nodes.js";
import { fitsEmptyNode } from "./scheduler/fits-empty-node.js";
import { type NodeSelectorRequirement, type NodeSelectorTerm, matchesNodeAffinity } from "./scheduler/node-affinity.js";
import { podRequests } from "./scheduler/resources.js";

/** Pods that need nodes. */
export interface PendingPods {
  /** Owner of the pods: `Job default/train`. */
  readonly owner: string;
  readonly spec: DeepReadonly<PodSpec>;
  /** Number of pods that may run at a time. */
  readonly count: number;
}

/** A node that was added for pods that fit on no other node. */
export interface AddedNode {
  readonly shape: NodeShape;
  /** Owners of the pods it was added for. */
  readonly owners: readonly string[];
  /** What the pods request and no given node has: labels, a name, resource names. */
  readonly needs: readonly string[];
}

/**
 * Returns a node for each kind of pods that fits on none of the given nodes, even on empty ones. The node has the
 * labels and name that the node selector and required node affinity demand. It has no taints, and room for as many pods
 * as may run at a time. Pods that demand the same labels share one node. Pods with contradictory constraints, malformed
 * quantities or another scheduler get none.
 */
export function nodesFor(templates: readonly PendingPods[], given: readonly NodeShape[]): AddedNode[] {
  const nodes = given.map((shape) => nodeObject(shape, 0));
  const added = new Map<string, AddedNode>();
  for (const { owner, spec, count } of templates) {
    const pod = podWithRequests(spec);
    const amounts = amountsOf(pod);
    if (amounts === undefined || (spec.schedulerName ?? "default-scheduler") !== "default-scheduler") continue;
    const isNamed = spec.nodeName !== undefined && spec.nodeName !== "";
    if (isNamed ? given.some(({ name }) => name === spec.nodeName) : nodes.some((node) => fitsEmptyNode(node, pod)))
      continue;
    const required = requiredNodeOf(spec);
    if (required === undefined) continue;
    const key = JSON.stringify([required.name, Object.entries(required.labels).sort(([a], [b]) => (a < b ? -1 : 1))]);
    const existing = added.get(key);
    const base = existing?.shape ?? emptyShape(required.name ?? `other-node-${added.size + 1}`, required.labels);
    const shape = withCapacityFor(base, amounts, count);
    // Contradictory constraints fit on no node.
    if (!isNamed && !fitsEmptyNode(nodeObject(shape, 0), pod)) continue;
    const missing = [...amounts].filter(([name, amount]) => amount > Math.max(0, ...given.map(capacityOf(name))));
    const needs = [
      ...(required.name === undefined ? [] : [`node ${required.name}`]),
      ...Object.entries(required.labels).map(([label, value]) => `${label}=${value}`),
      ...missing.map(([name]) => name),
    ];
    added.set(key, {
      shape,
      owners: [...new Set([...(existing?.owners ?? []), owner])],
      needs: [...new Set([...(existing?.needs ?? []), ...needs])],
    });
  }
  return [...added.values()].map((node) => ({ ...node, shape: atLeastDefaultSize(node.shape) }));
}

function atLeastDefaultSize(shape: NodeShape): NodeShape {
  const defaultShape = defaultNodes[0]!;
  const isLarger = (name: "cpu" | "memory"): boolean => capacityOf(name)(shape) > capacityOf(name)(defaultShape);
  return {
    ...shape,
    cpu: isLarger("cpu") ? shape.cpu : defaultShape.cpu,
    memory: isLarger("memory") ? shape.memory : defaultShape.memory,
    pods: Math.max(shape.pods, defaultShape.pods),
  };
}

interface RequiredNode {
  readonly name?: string;
  readonly labels: Readonly<Record<string, string>>;
}

/** Returns the minimum labels and name of a node for the pod; `undefined` when no node can match. */
function requiredNodeOf({ nodeName, nodeSelector = {}, affinity }: DeepReadonly<PodSpec>): RequiredNode | undefined {
  const required = affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
  if (nodeName) return { name: nodeName, labels: nodeSelector };
  if (required === undefined) return withHostname({}, nodeSelector);
  for (const term of required.nodeSelectorTerms) {
    const required = requiredNodeByTerm(term, nodeSelector);
    if (required !== undefined) return required;
  }
  return undefined;
}

function requiredNodeByTerm(
  { matchExpressions = [], matchFields = [] }: DeepReadonly<NodeSelectorTerm>,
  selected: Readonly<Record<string, string>>,
): RequiredNode | undefined {
  const labels = valuesFor(matchExpressions, selected);
  const fields = valuesFor(matchFields, {});
  return labels === undefined || fields === undefined ? undefined : withHostname(fields, labels);
}

const HOSTNAME = "kubernetes.io/hostname";

function withHostname(
  fields: Readonly<Record<string, string>>,
  labelsWithHostname: Readonly<Record<string, string>>,
): RequiredNode {
  const { [HOSTNAME]: hostname, ...labels } = labelsWithHostname;
  const name = fields["metadata.name"] ?? hostname;
  return name === undefined ? { labels } : { name, labels: hostname === undefined ? labels : labelsWithHostname };
}

/** Returns a value for each required key that satisfies all its requirements; `undefined` when there is none. */
function valuesFor(
  requirements: readonly DeepReadonly<NodeSelectorRequirement>[],
  given: Readonly<Record<string, string>>,
): Record<string, string> | undefined {
  const values: Record<string, string> = { ...given };
  for (const key of new Set(requirements.map((requirement) => requirement.key))) {
    const ofKey = requirements.filter((requirement) => requirement.key === key);
    const candidates = given[key] === undefined ? candidatesFor(ofKey) : [given[key]];
    if (candidates.length === 0) continue;
    const value = candidates.find((candidate) => ofKey.every((requirement) => allows(requirement, candidate)));
    if (value === undefined) return undefined;
    values[key] = value;
  }
  return values;
}

/** Returns candidate values for a key; none when the key may be absent. */
function candidatesFor(requirements: readonly DeepReadonly<NodeSelectorRequirement>[]): string[] {
  return requirements.flatMap(({ operator, values = [] }) => {
    if (operator === "In") return [...values];
    if (operator === "Exists") return ["true", "yes", "any"];
    if (operator === "Gt") return [String(Number(values[0]) + 1)];
    if (operator === "Lt") return [String(Number(values[0]) - 1)];
    return [];
  });
}

function allows(requirement: DeepReadonly<NodeSelectorRequirement>, value: string): boolean {
  const label = { [requirement.key]: value };
  return matchesNodeAffinity({ nodeSelectorTerms: [{ matchExpressions: [requirement] }] }, value, label);
}

/** Returns the pod as the API server stores it: containers without requests request their limits. */
function podWithRequests(spec: DeepReadonly<PodSpec>): DeepReadonly<Pod> {
  type Containers = DeepReadonly<PodSpec>["containers"];
  const withRequests = (containers: Containers): Containers =>
    containers.map((container) => {
      const { limits, requests } = container.resources ?? {};
      return limits === undefined
        ? container
        : { ...container, resources: { ...container.resources, requests: { ...limits, ...requests } } };
    });
  const { containers, initContainers } = spec;
  return {
    metadata: {},
    spec: {
      ...spec,
      containers: withRequests(containers ?? []),
      ...(initContainers === undefined ? {} : { initContainers: withRequests(initContainers) }),
    },
  };
}

/** Returns `undefined` for an invalid quantity, which the API server reports. */
function amountsOf(pod: DeepReadonly<Pod>): ReadonlyMap<string, number> | undefined {
  try {
    return podRequests(pod).amounts;
  } catch {
    return undefined;
  }
}

function emptyShape(name: string, labels: Readonly<Record<string, string>>): NodeShape {
  return { name, cpu: "0", memory: "0", pods: 0, ...(Object.keys(labels).length === 0 ? {} : { labels }) };
}

/**
 * Adds capacity for the pods to a shape. CPU is in thousandths of a core and other resources in whole units, as
 * requests are summed.
 */
function withCapacityFor(shape: NodeShape, amounts: ReadonlyMap<string, number>, count: number): NodeShape {
  const more = (name: string): number => capacityOf(name)(shape) + (amounts.get(name) ?? 0) * count;
  const others = [...amounts.keys()].filter((name) => name !== "cpu" && name !== "memory");
  const resources = { ...shape.resources, ...Object.fromEntries(others.map((name) => [name, String(more(name))])) };
  return {
    ...shape,
    cpu: `${more("cpu")}m`,
    memory: String(more("memory")),
    pods: shape.pods + count,
    ...(Object.keys(resources).length === 0 ? {} : { resources }),
  };
}

function capacityOf(name: string): (shape: NodeShape) => number {
  return (shape) => {
    const text = name === "cpu" ? shape.cpu : name === "memory" ? shape.memory : shape.resources?.[name];
    return text === undefined ? 0 : (amountsOf(podRequesting(name, text))?.get(name) ?? 0);
  };
}

function podRequesting(name: string, text: string): Pod {
  return { metadata: {}, spec: { containers: [{ name: "any", resources: { requests: { [name]: text } } }] } };
}
