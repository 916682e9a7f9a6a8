import { expect, test } from "vitest";

import { DependencyGraph } from "./dependency-graph.js";
import type { Metadata, Reference } from "./object-identity.js";

const MAP = { apiVersion: "v1", kind: "ConfigMap" };
const SECRET = { apiVersion: "v1", kind: "Secret" };
const NODE = { apiVersion: "v1", kind: "Node" };

/** A graph that records listener calls, such as `delete a`, `later a`, `orphan a`, `absent a`, `namespace a→b`. */
function recordedGraph() {
  const log: string[] = [];
  const graph = new DependencyGraph({
    attemptToDelete: ({ identity }) => void log.push(`delete ${identity.name}`),
    attemptToDeleteRateLimited: ({ identity }) => void log.push(`later ${identity.kind} ${identity.name}`),
    attemptToOrphan: ({ identity }) => void log.push(`orphan ${identity.name}`),
    ownerAbsent: ({ kind, name }) => void log.push(`absent ${kind} ${name}`),
    ownerInOtherNamespace: (dependent, reference) => void log.push(`namespace ${dependent.name}→${reference.name}`),
  });
  return { graph, log, take: () => log.splice(0) };
}

function ref(name: string, more: Partial<Reference> = {}): Reference {
  return { ...MAP, name, uid: `uid-${name}`, ...more };
}

function meta(name: string, more: Partial<Metadata> = {}): Metadata {
  return { name, namespace: "ns", uid: `uid-${name}`, ...more };
}

const DELETED = { deletionTimestamp: "2026-01-01T00:00:00Z" };

test("an owner that is not known gets a virtual node, which is looked into; one that is known does not", () => {
  const { graph, take } = recordedGraph();
  graph.observe(MAP, meta("a", { ownerReferences: [ref("owner")] }));
  expect(take()).toEqual(["delete owner"]);
  expect(graph.node("uid-owner")?.virtual).toBe(true);
  graph.observe(MAP, meta("b", { ownerReferences: [ref("owner")] }));
  graph.observe(MAP, meta("owner"));
  expect(take()).toEqual([]);
  expect(graph.node("uid-owner")?.virtual).toBe(false);
});

test("a deletion concerns all dependents, and the owners that wait for it", () => {
  const { graph, take } = recordedGraph();
  graph.observe(MAP, meta("top"));
  graph.observe(MAP, meta("owner", { ownerReferences: [ref("top")] }));
  graph.observe(MAP, meta("a", { ownerReferences: [ref("owner")] }));
  graph.observe(MAP, meta("b", { ownerReferences: [ref("owner")] }));
  graph.remove(MAP, meta("owner"));
  expect(take()).toEqual(["absent ConfigMap owner", "delete a", "delete b"]);
  graph.observe(MAP, meta("c", { ownerReferences: [ref("top")] }));
  graph.observe(MAP, meta("top", { ...DELETED, finalizers: ["foregroundDeletion"] }), meta("top"));
  expect(take()).toEqual(["delete c", "delete top"]);
  graph.remove(MAP, meta("c"));
  expect(take()).toEqual(["delete top"]);
});

test("a dump has who owns whom in order of UID, without loners, or only what is connected with some objects", () => {
  const { graph } = recordedGraph();
  graph.observe(MAP, meta("z", { ...DELETED, finalizers: ["foregroundDeletion"] }));
  graph.observe(MAP, meta("b", { ownerReferences: [ref("z"), ref("missing")] }));
  graph.observe(MAP, meta("other"));
  graph.observe(MAP, meta("x", { ownerReferences: [ref("other")] }));
  graph.observe(MAP, meta("loner"));
  const all = graph.dump();
  expect(all.nodes.map(({ uid }) => uid)).toEqual(["uid-b", "uid-missing", "uid-other", "uid-x", "uid-z"]);
  expect(all.edges).toEqual([
    { dependent: "uid-b", owner: "uid-missing" },
    { dependent: "uid-b", owner: "uid-z" },
    { dependent: "uid-x", owner: "uid-other" },
  ]);
  const some = graph.dump(["uid-z", "uid-nobody"]);
  expect(some.nodes.map(({ name, virtual, deletingDependents }) => ({ name, virtual, deletingDependents }))).toEqual([
    { name: "b", virtual: false, deletingDependents: false },
    { name: "missing", virtual: true, deletingDependents: false },
    { name: "z", virtual: false, deletingDependents: true },
  ]);
  expect(graph.dump(["uid-nobody"])).toEqual({ nodes: [], edges: [] });
});

test("a deletion of what is not known is ignored", () => {
  const { graph, take } = recordedGraph();
  graph.remove(MAP, meta("a"));
  graph.removeAbsent({ ...MAP, namespace: "ns", name: "a", uid: "uid-a" });
  expect(take()).toEqual([]);
});

test("deletions with finalizers begin once, also when they are found under way", () => {
  const { graph, take } = recordedGraph();
  const orphaning = meta("a", { ...DELETED, finalizers: ["orphan"] });
  graph.observe(MAP, orphaning);
  expect(take()).toEqual(["orphan a"]);
  graph.observe(MAP, orphaning, orphaning);
  expect(take()).toEqual([]);
  graph.observe(MAP, meta("b"));
  graph.observe(MAP, meta("b", { ...DELETED, finalizers: ["example.com/hold"] }), meta("b"));
  expect(take()).toEqual([]);
  expect(graph.node("uid-b")).toMatchObject({ beingDeleted: true, deletingDependents: false });
  const before = meta("b", { ...DELETED, finalizers: ["example.com/hold"] });
  graph.observe(MAP, meta("b", { ...DELETED, finalizers: ["foregroundDeletion"] }), before);
  expect(take()).toEqual(["delete b"]);
  expect(graph.node("uid-b")?.deletingDependents).toBe(true);
});

test.each([
  ["removed", []],
  ["unblocked", [ref("owner", { blockOwnerDeletion: false })]],
])("a blocking reference that is %s makes its owner be looked at", (_title, ownerReferences) => {
  const { graph, take } = recordedGraph();
  graph.observe(MAP, meta("owner"));
  graph.observe(MAP, meta("a", { ownerReferences: [ref("owner", { blockOwnerDeletion: true })] }));
  expect(graph.node("uid-owner")?.isBlocked).toBe(true);
  graph.observe(MAP, meta("a", { ownerReferences }));
  expect(take()).toEqual(["delete owner"]);
  expect(graph.node("uid-owner")?.isBlocked).toBe(false);
  expect(graph.node("uid-owner")?.dependentCount).toBe(ownerReferences.length);
});

test("an owner that waits is named when the last that blocks it has gone; one that comes late is named itself", () => {
  const { graph, take } = recordedGraph();
  const blocking = { ownerReferences: [ref("owner", { blockOwnerDeletion: true })] };
  graph.observe(MAP, meta("owner"));
  for (const name of ["a", "b"]) graph.observe(MAP, meta(name, blocking));
  graph.observe(MAP, meta("owner", { ...DELETED, finalizers: ["foregroundDeletion"] }), meta("owner"));
  expect(take()).toEqual(["delete a", "delete b", "delete owner"]);
  graph.remove(MAP, meta("a", blocking));
  expect(take()).toEqual([]);
  graph.observe(MAP, meta("c", blocking));
  expect(take()).toEqual(["delete c"]);
  graph.observe(MAP, meta("b"));
  expect(take()).toEqual([]);
  graph.remove(MAP, meta("c", blocking));
  expect(take()).toEqual(["delete owner"]);
});

test("a dependent that gets type or name of a known owner wrong is looked into", () => {
  const { graph, take } = recordedGraph();
  graph.observe(MAP, meta("owner"));
  graph.observe(MAP, meta("a", { ownerReferences: [ref("owner", { kind: "Secret" })] }));
  graph.observe(MAP, meta("b", { ownerReferences: [ref("owner", { name: "other" })] }));
  graph.observe(MAP, meta("c", { ownerReferences: [ref("owner")] }));
  expect(take()).toEqual(["delete a", "delete b"]);
});

test("a dependent in another namespace is checked and reported, whichever object is observed first", () => {
  const { graph, take } = recordedGraph();
  graph.observe(MAP, meta("owner"));
  graph.observe(MAP, meta("a", { namespace: "other", ownerReferences: [ref("owner")] }));
  expect(take()).toEqual(["namespace a→owner", "delete a"]);
  graph.observe(MAP, meta("b", { namespace: "other", ownerReferences: [ref("late")] }));
  expect(take()).toEqual(["delete late"]);
  graph.observe(MAP, meta("late"));
  expect(take()).toEqual(["namespace b→late", "delete b"]);
});

test("a cluster-scoped owner may be referred to from anywhere", () => {
  const { graph, take } = recordedGraph();
  const reference = ref("n", NODE);
  graph.observe(MAP, meta("a", { ownerReferences: [reference] }));
  expect(take()).toEqual(["delete n"]);
  graph.observe(NODE, { name: "n", uid: "uid-n" });
  graph.observe(MAP, meta("b", { ownerReferences: [reference] }));
  expect(take()).toEqual([]);
});

test("a dependent whose owner may be cluster-scoped or not is looked into", () => {
  const { graph, take } = recordedGraph();
  graph.observe(NODE, { name: "n", uid: "uid-n", ownerReferences: [ref("owner")] });
  graph.observe(MAP, meta("a", { ownerReferences: [ref("owner")] }));
  expect(take()).toEqual(["delete owner", "delete a"]);
});

test("an owner that does not exist is removed with all that refer to it", () => {
  const { graph, take } = recordedGraph();
  graph.observe(MAP, meta("a", { ownerReferences: [ref("owner")] }));
  take();
  graph.removeAbsent({ ...MAP, namespace: "ns", name: "owner", uid: "uid-owner" });
  expect(take()).toEqual(["absent ConfigMap owner", "delete a"]);
  expect(graph.node("uid-owner")).toBeUndefined();
});

test("of dependents that disagree about an owner's identity only those are collected whose owner does not exist", () => {
  const { graph, take } = recordedGraph();
  const asMap = { ...MAP, namespace: "ns", name: "owner", uid: "uid-owner" };
  graph.observe(MAP, meta("a", { ownerReferences: [ref("owner")] }));
  graph.observe(MAP, meta("b", { ownerReferences: [ref("owner", SECRET)] }));
  graph.observe(MAP, meta("c", { ownerReferences: [ref("owner", NODE)] }));
  take();
  graph.removeAbsent(asMap);
  // The next kind in order after ConfigMap.
  expect(take()).toEqual(["absent ConfigMap owner", "delete a", "later Node owner"]);
  graph.removeAbsent({ ...asMap, ...NODE });
  expect(take()).toEqual(["absent Node owner", "delete c", "later Secret owner"]);
  graph.removeAbsent({ ...asMap, ...SECRET });
  // After the last identity, the first again.
  expect(take()).toEqual(["absent Secret owner", "delete b", "later ConfigMap owner"]);
  graph.observe(SECRET, meta("owner"));
  expect(take()).toEqual(["delete a", "delete c"]);
});

test("an observed owner is not removed because a dependent names a wrong type", () => {
  const { graph, take } = recordedGraph();
  graph.observe(MAP, meta("owner"));
  graph.observe(MAP, meta("a", { ownerReferences: [ref("owner", SECRET)] }));
  graph.observe(MAP, meta("b", { ownerReferences: [ref("owner")] }));
  take();
  graph.removeAbsent({ ...SECRET, namespace: "ns", name: "owner", uid: "uid-owner" });
  expect(take()).toEqual(["absent Secret owner", "delete a"]);
  expect(graph.node("uid-owner")?.virtual).toBe(false);
});

test.each<[string, Partial<Reference>, Partial<Reference>]>([
  ["is not controlled by its owner any more", { controller: true }, { controller: false }],
  ["does not say any more whether it is controlled", { controller: true }, {}],
  ["names its owner otherwise", { name: "a" }, { name: "b" }],
  ["is of another version of its owner", { apiVersion: "v1" }, { apiVersion: "v2" }],
])("a dependent that %s is known so", (_, before, after) => {
  const { graph } = recordedGraph();
  graph.observe(MAP, meta("owner"));
  graph.observe(MAP, meta("a", { ownerReferences: [ref("owner", before)] }));
  graph.observe(MAP, meta("a", { ownerReferences: [ref("owner", after)] }));
  expect(graph.node("uid-a")?.owners).toEqual([ref("owner", after)]);
});

test("an object that is served as another type from now on is known by that", () => {
  const { graph } = recordedGraph();
  graph.observe(MAP, meta("a"));
  graph.observe({ ...MAP, apiVersion: "v2" }, meta("a"));
  expect(graph.node("uid-a")?.identity).toMatchObject({ apiVersion: "v2", kind: "ConfigMap", name: "a" });
});

test("a virtual owner is forgotten with its last dependent", () => {
  const { graph } = recordedGraph();
  graph.observe(MAP, meta("a", { ownerReferences: [ref("owner")] }));
  graph.observe(MAP, meta("b", { ownerReferences: [ref("owner")] }));
  graph.remove(MAP, meta("a"));
  expect(graph.size).toBe(2);
  graph.observe(MAP, meta("b"));
  expect(graph.size).toBe(1);
});
