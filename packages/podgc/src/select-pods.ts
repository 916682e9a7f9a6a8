import { type DeepReadonly, type Node, type Pod, findCondition } from "@kubewright/api";

type PodObject = DeepReadonly<Pod>;
type NodeObject = DeepReadonly<Node>;

/** A taint of any value and effect that says the node's machine is down for good. */
const OUT_OF_SERVICE_TAINT = "node.kubernetes.io/out-of-service";

/**
 * The ended pods that are too many, in the order in which they are to go: evicted ones, then the oldest.
 *
 * An empty phase counts as ended. Counts the whole cluster.
 *
 * @param threshold - How many may stay. Nothing goes when not positive.
 * @see kubernetes v1.36 pkg/controller/podgc/gc_controller.go gcTerminated
 */
export function selectTerminatedPods(pods: readonly PodObject[], threshold: number): PodObject[] {
  if (!(threshold > 0)) return [];
  const terminated = pods.filter(isPodTerminated);
  const excess = terminated.length - threshold;
  return excess > 0 ? terminated.sort(compareEvictedThenOldest).slice(0, excess) : [];
}

/**
 * Terminating pods whose node is neither ready nor in service: nobody is left to end them. Evicted ones first, then the
 * oldest.
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
 * Pods on one of these nodes, whatever their state.
 *
 * @see kubernetes v1.36 pkg/controller/podgc/gc_controller.go gcOrphaned
 */
export function selectPodsOnNodes(pods: readonly PodObject[], nodeNames: ReadonlySet<string>): PodObject[] {
  return nodeNames.size === 0 ? [] : pods.filter((pod) => nodeNames.has(pod.spec?.nodeName ?? ""));
}

/**
 * Terminating pods that never got a node.
 *
 * @see kubernetes v1.36 pkg/controller/podgc/gc_controller.go gcUnscheduledTerminating
 */
export function selectUnscheduledTerminatingPods(pods: readonly PodObject[]): PodObject[] {
  return pods.filter((pod) => pod.metadata.deletionTimestamp && !pod.spec?.nodeName);
}

/** Names of nodes that pods run on and that are not there. */
export function missingNodes(pods: readonly PodObject[], exists: (name: string) => boolean): Set<string> {
  const missing = new Set<string>();
  for (const { spec } of pods) if (spec?.nodeName && !exists(spec.nodeName)) missing.add(spec.nodeName);
  return missing;
}

/** Whether a pod counts as ended: an empty phase does. */
export function isPodTerminated({ status }: PodObject): boolean {
  const phase = status?.phase;
  return phase !== "Pending" && phase !== "Running" && phase !== "Unknown";
}

/** Whether a node is not ready, and nobody expects it to be. */
export function isOutOfService(node: NodeObject): boolean {
  const hasTaint = node.spec?.taints?.some((taint) => taint.key === OUT_OF_SERVICE_TAINT) ?? false;
  return hasTaint && !isNodeReady(node);
}

function isEvicted({ status }: PodObject): boolean {
  return status?.phase === "Failed" && status.reason === "Evicted";
}

/** Namespaces are not compared: equal names stay in the cache's order. */
function compareEvictedThenOldest(a: PodObject, b: PodObject): number {
  const evicted = Number(isEvicted(b)) - Number(isEvicted(a));
  if (evicted !== 0) return evicted;
  // RFC 3339 in UTC and whole seconds: the texts are in the order of the times.
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
