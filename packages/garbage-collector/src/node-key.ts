import type { GraphNode } from "./graph-node.js";

/**
 * A queue key: the UID of an observed object, or of one that was only referred to. When an object of the latter kind is
 * observed, its key needs no processing any more.
 */
export type NodeKey = `seen:${string}` | `virtual:${string}`;

export function nodeKey({ virtual, identity: { uid } }: Pick<GraphNode, "virtual" | "identity">): NodeKey {
  return virtual ? `virtual:${uid}` : `seen:${uid}`;
}

export function nodeKeyParts(key: NodeKey): { readonly uid: string; readonly virtual: boolean } {
  return { uid: key.slice(key.indexOf(":") + 1), virtual: key.startsWith("virtual:") };
}
