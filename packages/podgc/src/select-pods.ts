import { type DeepReadonly, type Node, type Pod, findCondition } from "@kubewright/api";

type PodObject = DeepReadonly<Pod>;
type NodeObject = DeepReadonly<Node>;

/** A taint of any value and effect that marks the node's machine as permanently down. */
const OUT_OF_SERVICE_TAINT = "node.kubernetes.io/out-of-service";

/**
 * Returns the terminated pods beyond the threshold, in deletion order: evicted pods first, then the oldest.
 *
 * An empty phase counts as terminated. Counts the pods of the whole cluster.
 *
 * @param threshold - Number of terminated pods to keep. If it is not positive, no pods are returned.
 * @see kubernetes v1.36 pkg/controller/podgc/gc_controller.go gcTerminated
 */
export function selectTerminatedPods(pods: readonly PodObject[], threshold: number): PodObject[] {
  if (!(threshold > 0)) return [];
  const terminated = pods.filter(isPodTerminated);
  const excess = terminated.length - threshold;
  return excess > 0 ? terminated.sort(compareEvictedThenOldest).slice(0, excess) : [];
}

/**
 * Returns the terminating pods whose node is not ready and is out of service, so that no kubelet ends them. Evicted
 * pods first, then the oldest.
 *
 * @see kubernetes v1.36 pkg/controller/podgc/gc_controller.go gcTerminating
 */
export function selectTerminatingPodsOutOfService(
  pods: readonly PodObject[],
  nodeByName: (name: string) => NodeObject | undefined,
): PodObject[] {
  const selected = pods.filter((pod) => {
    if (!pod.metadata.deletionTimestamp || !pod.spec?.nodeName) return false;
    const node = nodeByName(pod.spec.nodeName);
    return node !== undefined && isOutOfService(node);
  });
  return selected.sort(compareEvictedThenOldest);
}

/**
 * Returns all pods on the given nodes, in any state.
 *
 * @see kubernetes v1.36 pkg/controller/podgc/gc_controller.go gcOrphaned
 */
export function selectPodsOnNodes(pods: readonly PodObject[], nodeNames: ReadonlySet<string>): PodObject[] {
  return nodeNames.size === 0 ? [] : pods.filter((pod) => nodeNames.has(pod.spec?.nodeName ?? ""));
}

/**
 * Returns the terminating pods without a node.
 *
 * @see kubernetes v1.36 pkg/controller/podgc/gc_controller.go gcUnscheduledTerminating
 */
export function selectUnscheduledTerminatingPods(pods: readonly PodObject[]): PodObject[] {
  return pods.filter((pod) => pod.metadata.deletionTimestamp && !pod.spec?.nodeName);
}

/** Returns the node names of pods whose node does not exist. */
export function missingNodes(pods: readonly PodObject[], exists: (name: string) => boolean): Set<string> {
  const missing = new Set<string>();
  for (const { spec } of pods) if (spec?.nodeName && !exists(spec.nodeName)) missing.add(spec.nodeName);
  return missing;
}

/** Whether a pod counts as terminated. A pod with an empty phase does. */
export function isPodTerminated({ status }: PodObject): boolean {
  const phase = status?.phase;
  return phase !== "Pending" && phase !== "Running" && phase !== "Unknown";
}

/** Whether a node is not ready and has the out-of-service taint. */
export function isOutOfService(node: NodeObject): boolean {
  const hasTaint = node.spec?.taints?.some((taint) => taint.key === OUT_OF_SERVICE_TAINT) ?? false;
  return hasTaint && !isNodeReady(node);
}

function isEvicted({ status }: PodObject): boolean {
  return status?.phase === "Failed" && status.reason === "Evicted";
}

/** Does not compare namespaces: pods with equal names stay in the cache's order. */
function compareEvictedThenOldest(a: PodObject, b: PodObject): number {
  const evicted = Number(isEvicted(b)) - Number(isEvicted(a));
  if (evicted !== 0) return evicted;
  // The times are RFC 3339 in UTC with whole seconds, so comparing the texts compares the times.
  return (
    compareTexts(a.metadata.creationTimestamp, b.metadata.creationTimestamp) ||
    compareTexts(a.metadata.name, b.metadata.name)
  );
}

function compareTexts(a = "", b = ""): number {
  return a === b ? 0 : a < b ? -1 : 1;
}

function isNodeReady({ status }: NodeObject): boolean {
  return findCondition(status?.conditions, "Ready")?.status === "True";
}
