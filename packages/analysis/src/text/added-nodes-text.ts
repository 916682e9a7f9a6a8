import type { AddedNode } from "@kubewright/cluster";

import { printable } from "./style.js";
import { wrap } from "../why/text-block.js";

/** Maximum number of nodes that are listed; the others are counted. */
const MAX_NODES = 5;

/** Lists the nodes that were added to a simulated cluster because pods fit on no other node. */
export function addedNodesText(nodes: readonly AddedNode[], width: number): string {
  const lines = nodes.slice(0, MAX_NODES).flatMap(({ shape, owners, needs }) => {
    const others = owners.length > 1 ? ` and ${owners.length - 1} more` : "";
    return wrap(printable(`  ${shape.name}: ${needs.join(", ")}, for ${owners[0]}${others}`), width);
  });
  if (nodes.length > MAX_NODES) lines.push(`  … and ${nodes.length - MAX_NODES} more nodes`);
  const heading = "Nodes were added for pods that fit on no node. Name your nodes in the nodes of a scenario.";
  return [...wrap(heading, width), ...lines].join("\n");
}
