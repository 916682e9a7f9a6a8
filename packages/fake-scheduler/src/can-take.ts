import type { DeepReadonly, Node, Pod } from "@kubewright/api";

import { NodeLedger } from "./node-ledger.js";
import { podRequests } from "./resources.js";

/** Whether a pod fits on a node that runs nothing else. @throws Error for a malformed quantity. */
export function canTake(node: DeepReadonly<Node>, pod: DeepReadonly<Pod>): boolean {
  const ledger = new NodeLedger();
  ledger.setNode(node);
  return ledger.fits(node.metadata.name ?? "", podRequests(pod));
}
