import type { GraphNode } from "./graph-node.js";
import type { ObjectIdentity } from "./object-identity.js";

/** Content of the dependency graph as plain data, by UID. Objects without owners and dependents are omitted. */
export interface GraphDump {
  readonly nodes: readonly GraphDumpNode[];
  /** Edges from dependents to their owners. */
  readonly edges: readonly GraphDumpEdge[];
}

export interface GraphDumpNode extends ObjectIdentity {
  readonly beingDeleted: boolean;
  readonly deletingDependents: boolean;
  /** Never observed, only referred to. */
  readonly virtual: boolean;
}

export interface GraphDumpEdge {
  readonly dependent: string;
  readonly owner: string;
}

/**
 * Copies the graph, or its parts that are connected with the given objects.
 *
 * @param nodes - The whole graph, by UID.
 * @param uids - Default: all objects. Unknown UIDs are ignored.
 * @see kubernetes v1.36 pkg/controller/garbagecollector/dump.go
 */
export function dumpGraph(nodes: ReadonlyMap<string, GraphNode>, uids: readonly string[] = []): GraphDump {
  const chosen = uids.length === 0 ? [...nodes.values()] : [...connectedWith(nodes, uids)];
  const related = chosen.filter(({ owners, dependentCount }) => owners.length > 0 || dependentCount > 0);
  const edges = related.flatMap(({ identity, owners }) =>
    [...new Set(owners.map(({ uid }) => uid))].map((owner) => ({ dependent: identity.uid, owner })),
  );
  return {
    nodes: related
      .map(({ identity: { apiVersion, kind, namespace, name, uid }, beingDeleted, deletingDependents, virtual }) => ({
        apiVersion,
        kind,
        namespace,
        name,
        uid,
        beingDeleted,
        deletingDependents,
        virtual,
      }))
      .sort((a, b) => compare(a.uid, b.uid)),
    edges: edges.sort((a, b) => compare(a.dependent, b.dependent) || compare(a.owner, b.owner)),
  };
}

function connectedWith(nodes: ReadonlyMap<string, GraphNode>, uids: readonly string[]): Set<GraphNode> {
  const found = new Set<GraphNode>();
  const open = uids.flatMap((uid) => nodes.get(uid) ?? []);
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    if (found.has(node)) continue;
    found.add(node);
    for (const dependent of node.dependents) open.push(dependent);
    for (const { uid } of node.owners) {
      const owner = nodes.get(uid);
      if (owner !== undefined) open.push(owner);
    }
  }
  return found;
}

function compare(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
