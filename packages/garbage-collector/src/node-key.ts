import type { GraphNode } from "./graph-node.js";

/**
 * What the queues hold: the UID of an object that was seen, or of one that was only referred to. When the latter comes to
 * exist, there is nothing to look into any more.
 */
export type NodeKey = `seen:${string}` | `virtual:${string}`;

export function nodeKey({ virtual, identity: { uid } }: Pick<GraphNode, "virtual" | "identity">): NodeKey {
  return virtual ? `virtual:${uid}` : `seen:${uid}`;
}

export function nodeKeyParts(key: NodeKey): { readonly uid: string; readonly virtual: boolean } {
  return { uid: key.slice(key.indexOf(":") + 1), virtual: key.startsWith("virtual:") };
}
