import type { DeepReadonly, Node, Pod } from "@kubewright/api";

import { NodeAllocations } from "./node-allocations.js";
import { podRequests } from "./resources.js";

/**
 * Reports whether a pod fits on a node that runs no other pod.
 *
 * @throws Error for a malformed quantity.
 */
export function fitsEmptyNode(node: DeepReadonly<Node>, pod: DeepReadonly<Pod>): boolean {
  const allocations = new NodeAllocations();
  allocations.setNode(node);
  return allocations.fits(node.metadata.name ?? "", podRequests(pod));
}
