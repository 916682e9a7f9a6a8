import type { KubernetesObject, Node, OwnerReference, Pod } from "@kubewright/api";
import { describe, expect, it } from "vitest";

import { History, START_MS } from "../../test/history.js";
import { condition, job, pod } from "../../test/objects.js";
import { garbageIsCollected, ownedObjectsAreKept } from "./garbage.js";
import { podGCActs, podGCReasons } from "./pod-garbage.js";
import { ttlActs, ttlReason } from "./ttl.js";

const GC = "garbage-collector-controller";
const POD_GC = "pod-garbage-collector-controller";
const TTL = "ttl-after-finished-controller";

const reference = (of: KubernetesObject, more: Partial<OwnerReference> = {}): OwnerReference => ({
  apiVersion: of.apiVersion!,
  kind: of.kind!,
  name: of.metadata.name!,
  uid: of.metadata.uid ?? `uid-of-${of.metadata.name}`,
  ...more,
});

function configMap(owners: readonly OwnerReference[], metadata: Partial<KubernetesObject["metadata"]> = {}) {
  return {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { namespace: "default", name: "child", uid: "uid-of-child", ownerReferences: [...owners], ...metadata },
  };
}

const node = (name: string, more: Partial<Node> = {}): Node => ({
  apiVersion: "v1",
  kind: "Node",
  metadata: { name, uid: `uid-of-${name}` },
  ...more,
});

describe("S14 garbage collection keeps owned objects", () => {
  function collected(owner: KubernetesObject | undefined, child: KubernetesObject): readonly string[] {
    const history = new History(ownedObjectsAreKept);
    if (owner !== undefined) history.store(owner);
    history.store(child);
    history.pass(1000);
    history.remove(child, GC);
    return history.violations;
  }

  it("accepts what has no owner any more, or only one that waits for it", () => {
    expect(collected(undefined, configMap([reference(job())]))).toEqual([]);
    const waiting = job();
    waiting.metadata = {
      ...waiting.metadata,
      deletionTimestamp: "2026-03-02T10:00:00Z",
      finalizers: ["foregroundDeletion"],
    };
    expect(collected(waiting, configMap([reference(job())]))).toEqual([]);
  });

  it("accepts what names its owner by a wrong kind, name, group, UID or namespace", () => {
    for (const wrong of [{ kind: "Pod" }, { name: "other" }, { apiVersion: "v1" }, { uid: "other" }])
      expect(collected(job(), configMap([reference(job(), wrong)]))).toEqual([]);
    expect(collected(job(), configMap([reference(job())], { namespace: "elsewhere" }))).toEqual([]);
  });

  it("refuses what is owned, what has no owner, and what has no namespace as its owner has", () => {
    expect(collected(job(), configMap([reference(job())]))).toEqual([
      "ConfigMap default/child: is deleted as garbage, and Job default/pi owns it",
    ]);
    expect(collected(job(), configMap([reference(job(), { uid: "gone" }), reference(job())]))).toHaveLength(1);
    expect(collected(undefined, configMap([]))).toEqual([
      "ConfigMap default/child: is deleted as garbage, and has no owner",
    ]);
    const owned = node("n", { metadata: { name: "n", uid: "n", ownerReferences: [reference(job())] } });
    expect(collected(job(), owned)).toEqual(["Node n: is deleted as garbage, and has no namespace, as its owner has"]);
  });

  it("accepts that an owner has stopped waiting since the garbage collector looked at it", () => {
    const owner = job();
    const deleted = { ...owner.metadata, deletionTimestamp: "2026-03-02T10:00:00Z" };
    const collectedAfter = (ms: number): readonly string[] => {
      const history = new History(ownedObjectsAreKept);
      history.store({ ...owner, metadata: { ...deleted, finalizers: ["foregroundDeletion", "example.com/hold"] } });
      const child = history.store(configMap([reference(owner)]));
      history.store({ ...owner, metadata: { ...deleted, finalizers: ["example.com/hold"] } }, GC);
      history.pass(ms);
      history.remove(child, GC);
      return history.violations;
    };
    expect(collectedAfter(1_000)).toEqual([]);
    expect(collectedAfter(60_000)).toHaveLength(1);
  });

  const conflict = (history: History, process = "m"): void =>
    history.answer({
      component: GC,
      process,
      verb: "delete",
      resource: "configmaps",
      name: "child",
      code: 409,
    });

  it("accepts references that changed while it was being deleted, by its UID alone, after a conflict of the same life", () => {
    const deletedAfter = (refused: (history: History) => void): readonly string[] => {
      const history = new History(ownedObjectsAreKept);
      history.store(job());
      history.store(configMap([reference(job(), { uid: "gone" })]));
      refused(history);
      const sentMs = history.nowMs;
      history.pass(10);
      const now = history.store(configMap([reference(job())]));
      history.remove(now, { component: GC, sentMs, process: "m" });
      return history.violations;
    };
    expect(deletedAfter(conflict)).toEqual([]);
    expect(deletedAfter(() => {})).toHaveLength(1);
    expect(deletedAfter((history) => conflict(history, "another"))).toHaveLength(1);
  });

  it("accepts references that changed while it was looking, and refuses those that it could see", () => {
    const deleted = (looksFirst: boolean): readonly string[] => {
      const history = new History(ownedObjectsAreKept);
      const look = (): void =>
        history.answer({
          component: GC,
          verb: "get",
          resource: "configmaps",
          name: "child",
          code: 200,
          sentMs: history.nowMs,
        });
      history.store(configMap([reference(job(), { uid: "gone" })]));
      conflict(history);
      if (looksFirst) look();
      history.pass(10);
      const now = history.store(configMap([]));
      history.pass(10);
      if (!looksFirst) look();
      history.remove(now, { component: GC, sentMs: history.nowMs, process: "m" });
      return history.violations;
    };
    expect(deleted(true)).toEqual([]);
    expect(deleted(false)).toHaveLength(1);
  });
});

describe("S14 garbage collection spares references", () => {
  function taken(owner: KubernetesObject | undefined, by = GC): readonly string[] {
    const history = new History(ownedObjectsAreKept);
    const other = job({}, {}, "other");
    history.store(other);
    if (owner !== undefined) history.store(owner);
    history.store(configMap([reference(job()), reference(other)]));
    history.pass(1000);
    history.store(configMap([reference(other)]), { component: by, verb: "patch" });
    return history.violations;
  }

  function ending(finalizer: string): KubernetesObject {
    const made = job();
    const deletionTimestamp = "2026-03-02T10:00:00Z";
    return { ...made, metadata: { ...made.metadata, deletionTimestamp, finalizers: [finalizer] } };
  }

  it("accepts that one is taken to an owner that is gone, waits, or lets its dependents go, and what users take", () => {
    expect(taken(undefined)).toEqual([]);
    expect(taken(ending("foregroundDeletion"))).toEqual([]);
    expect(taken(ending("orphan"))).toEqual([]);
    expect(taken(job(), "user")).toEqual([]);
  });

  it("accepts a repeated release of a dependent when the first response was lost, and not much later", () => {
    const takenAfter = (ms: number): readonly string[] => {
      const history = new History(ownedObjectsAreKept);
      history.store(ending("orphan"));
      history.store(ending("example.com/hold"), { component: GC, verb: "patch" });
      history.store(configMap([reference(job())]));
      history.pass(ms);
      history.store(configMap([]), { component: GC, verb: "patch" });
      return history.violations;
    };
    expect(takenAfter(35_000)).toEqual([]);
    expect(takenAfter(400_000)).toHaveLength(1);
  });

  it("reports a removed reference to an owner that is not being deleted", () => {
    expect(taken(job())).toEqual(["ConfigMap default/child: is taken from Job default/pi, which is not being deleted"]);
    expect(taken(ending("example.com/mine"))).toHaveLength(1);
  });
});

describe("L3 garbage collection is complete", () => {
  function left(make: (history: History) => void): readonly string[] {
    const history = new History(garbageIsCollected);
    make(history);
    history.rest();
    expect(history.violations).toEqual([]);
    history.pass(181_000);
    history.rest();
    return history.violations;
  }

  it("refuses what is left when its owners are gone", () => {
    const violations = left((history) => {
      history.store(job());
      history.store(configMap([reference(job())]));
      history.remove(job());
    });
    expect(violations).toEqual(["ConfigMap default/child: is left, and its owners are gone: Job pi"]);
  });

  it("accepts what has no namespace and names an owner that would have one, also where no such owner ever was", () => {
    const owned = node("n", { metadata: { name: "n", uid: "n", ownerReferences: [reference(job())] } });
    expect(left((history) => history.store(owned))).toEqual([]);
  });

  it("reports an object that waits for dependents that are gone, or that are not orphaned", () => {
    for (const [finalizer, waits] of [
      ["foregroundDeletion", "waits for dependents none of which blocks it"],
      ["orphan", "waits to have its dependents orphaned"],
    ] as const) {
      const owner = job();
      owner.metadata = { ...owner.metadata, finalizers: [finalizer], deletionTimestamp: "2026-03-02T10:00:00Z" };
      expect(left((history) => history.store(owner))).toEqual([`Job default/pi: is deleted, and ${waits}`]);
    }
  });

  it("refuses what waits for each other, and for nothing else", () => {
    const waiting = { finalizers: ["foregroundDeletion"], deletionTimestamp: "2026-03-02T10:00:00Z" };
    const owner = job();
    const child = configMap([reference(owner, { blockOwnerDeletion: true })], waiting);
    owner.metadata = {
      ...owner.metadata,
      ...waiting,
      ownerReferences: [
        { apiVersion: "v1", kind: "ConfigMap", name: "child", uid: child.metadata.uid, blockOwnerDeletion: true },
      ],
    };
    const violations = left((history) => {
      history.store(owner);
      history.store(child);
    });
    expect(violations).toHaveLength(2);
  });

  it("refuses what is left for 30 s while nothing has been wrong", () => {
    const leftFor = (ms: number, quietMs: number, plan = {}): readonly string[] => {
      const history = new History(garbageIsCollected, plan);
      history.healedMs = START_MS + 3_600_000;
      history.store(job());
      history.store(configMap([reference(job())]));
      history.pass(1_000);
      history.happen(0, "delete", "begin");
      history.pass(quietMs);
      history.remove(job());
      for (let passedMs = 0; passedMs < ms; passedMs += 1_000) history.pass(1_000);
      return history.violations;
    };
    expect(leftFor(45_000, 61_000)).toEqual(["ConfigMap default/child: is left, and its owners are gone: Job pi"]);
    expect(leftFor(25_000, 61_000)).toEqual([]);
    expect(leftFor(45_000, 20_000)).toEqual([]);
    // One manager may have lost its Lease without another having taken over.
    expect(leftFor(45_000, 61_000, { controllerManagers: 2 })).toEqual([]);
    expect(leftFor(45_000, 201_000, { controllerManagers: 2 })).toHaveLength(1);
  });

  it("accepts what waits for a dependent that blocks it", () => {
    const owner = job();
    owner.metadata = {
      ...owner.metadata,
      finalizers: ["foregroundDeletion"],
      deletionTimestamp: "2026-03-02T10:00:00Z",
    };
    const violations = left((history) => {
      history.store(owner);
      const deletionTimestamp = "2026-03-02T10:00:00Z";
      const finalizers = ["example.com/mine"];
      history.store(configMap([reference(owner, { blockOwnerDeletion: true })], { finalizers, deletionTimestamp }));
    });
    expect(violations).toEqual([]);
  });

  it("reports an object that waits for a dependent that is neither deleted nor left to its other owner", () => {
    const owner = job();
    const other = job({}, {}, "other");
    owner.metadata = {
      ...owner.metadata,
      finalizers: ["foregroundDeletion"],
      deletionTimestamp: "2026-03-02T10:00:00Z",
    };
    const blocking = reference(owner, { blockOwnerDeletion: true });
    const waitsFor = (...owners: OwnerReference[]): readonly string[] =>
      left((history) => {
        history.store(owner);
        history.store(other);
        history.store(configMap(owners));
      });
    expect(waitsFor(blocking)).toHaveLength(1);
    expect(waitsFor(blocking, reference(other))).toHaveLength(1);
    // A reference with the wrong kind is looked up elsewhere.
    expect(waitsFor({ ...blocking, kind: "Pod" }, reference(other))).toEqual([]);

    const late = new History(garbageIsCollected);
    late.store(owner);
    late.pass(181_000);
    late.store(configMap([blocking]));
    late.rest();
    expect(late.violations).toEqual([]);
  });
});

describe("S15 PodGC reasons", () => {
  const on = (nodeName: string, phase = "Failed", metadata: Partial<Pod["metadata"]> = {}, name = "a"): Pod => ({
    ...pod(phase, { name, metadata }),
    spec: { containers: [], ...(nodeName === "" ? {} : { nodeName }) },
  });
  const deletionTimestamp = "2026-03-02T10:00:00Z";
  const tainted = node("out", {
    spec: { taints: [{ key: "node.kubernetes.io/out-of-service", effect: "NoExecute" }] },
  });

  function deleted(stored: Pod, nodes: readonly Node[] = []): readonly string[] {
    const history = new History(podGCReasons);
    for (const each of nodes) history.store(each);
    history.pass(120_000);
    history.store(stored);
    history.remove(stored, POD_GC);
    return history.violations;
  }

  it("accepts pods of nodes that do not exist or are out of service, and those without one that are being deleted", () => {
    expect(deleted(on("gone"))).toEqual([]);
    expect(deleted(on("out", "Failed", { deletionTimestamp }), [tainted])).toEqual([]);
    expect(deleted(on("", "Failed", { deletionTimestamp }))).toEqual([]);
  });

  it("reports pods that have not ended, and those of nodes that exist", () => {
    expect(deleted(on("gone", "Running"))).toEqual([
      "Pod default/a: is deleted by PodGC, and was not marked Failed first",
    ]);
    expect(deleted(on("n"), [node("n")])).toEqual([
      "Pod default/a: is deleted by PodGC, of 1 that have ended, and 12500 are kept",
    ]);
  });

  it("accepts a pod that PodGC marked Failed, even if its kubelet reports otherwise, and none that another client marked", () => {
    const markedBy = (who: string): readonly string[] => {
      const history = new History(podGCReasons);
      history.store(on("gone", "Pending"));
      history.store(disrupted("gone"), who);
      history.store(on("gone", "Pending"), "kubelet");
      history.remove(on("gone", "Pending"), POD_GC);
      return history.violations;
    };
    expect(markedBy(POD_GC)).toEqual([]);
    expect(markedBy("user")).toHaveLength(1);
  });

  const disrupted = (nodeName: string): Pod => {
    const failed = on(nodeName, "Failed");
    return { ...failed, status: { ...failed.status!, conditions: [{ type: "DisruptionTarget", status: "True" }] } };
  };

  it("requires a DisruptionTarget condition on a pod that is not being deleted", () => {
    for (const [before, after, count] of [
      [{}, disrupted("gone"), 0],
      [{}, on("gone", "Failed"), 1],
      [{ deletionTimestamp }, on("gone", "Failed", { deletionTimestamp }), 0],
    ] as const) {
      const history = new History(podGCReasons);
      history.store(on("gone", "Running", before));
      history.store(after, POD_GC);
      expect(history.violations).toHaveLength(count);
    }
  });

  it("permits Failed marks only on pods that no kubelet ends, whichever client deletes them then", () => {
    const marked = (nodes: readonly Node[], nodeName: string, isDeleted: boolean): readonly string[] => {
      const metadata = isDeleted ? { deletionTimestamp } : {};
      const history = new History(podGCReasons);
      for (const each of nodes) history.store(each);
      history.pass(120_000);
      history.store(on(nodeName, "Running", metadata));
      history.store({ ...disrupted(nodeName), metadata: { name: "a", ...metadata } }, POD_GC);
      history.remove(on(nodeName, "Failed", metadata), "kubelet");
      return history.violations;
    };
    expect(marked([], "gone", false)).toEqual([]);
    expect(marked([tainted], "out", true)).toEqual([]);
    expect(marked([], "", true)).toEqual([]);
    const refused = "Pod default/a: is marked Failed by PodGC, and its node exists and is in service";
    expect(marked([node("n")], "n", true)).toEqual([refused]);
    expect(marked([tainted], "out", false)).toEqual([refused]);
    expect(marked([], "", false)).toEqual([
      "Pod default/a: is marked Failed by PodGC, and has no node, which it may yet get",
    ]);
  });

  it("accepts a node that was created after PodGC got a 404 for it, and no other", () => {
    const deletedAfter = (codes: readonly number[], ms = 0): readonly string[] => {
      const history = new History(podGCReasons);
      history.store(on("n"));
      for (const code of codes) history.answer({ component: POD_GC, verb: "get", resource: "nodes", name: "n", code });
      history.store(node("n"));
      history.pass(ms);
      history.remove(on("n"), POD_GC);
      return history.violations;
    };
    expect(deletedAfter([404])).toEqual([]);
    expect(deletedAfter([404, 500], 200_000)).toEqual([]);
    expect(deletedAfter([404], 310_000)).toHaveLength(1);
    expect(deletedAfter([404, 200])).toHaveLength(1);
    expect(deletedAfter([500])).toHaveLength(1);
    expect(deletedAfter([])).toHaveLength(1);
  });

  it("accepts the oldest beyond the threshold, and refuses others", () => {
    const threshold = (terminatedPodGCThreshold: number) => ({ controllers: { terminatedPodGCThreshold } });
    const fill = (plan: object): History => {
      const history = new History(podGCReasons, plan);
      history.store(node("n"));
      history.pass(120_000);
      for (const name of ["a", "b", "c"]) {
        history.store(on("n", "Succeeded", {}, name));
        history.pass(1000);
      }
      return history;
    };
    const oldest = fill(threshold(1));
    oldest.remove(on("n", "Succeeded", {}, "a"), POD_GC);
    oldest.remove(on("n", "Succeeded", {}, "b"), POD_GC);
    expect(oldest.violations).toEqual([]);
    const newest = fill(threshold(2));
    newest.remove(on("n", "Succeeded", {}, "c"), POD_GC);
    expect(newest.violations).toEqual(["Pod default/c: is deleted by PodGC, before 2 older ones"]);
    const off = fill(threshold(0));
    off.remove(on("n", "Succeeded", {}, "a"), POD_GC);
    expect(off.violations).toEqual(["Pod default/a: is deleted by PodGC, which keeps all of them"]);
  });

  it("wants evicted pods to go before older ones, but where that was not said when they ended", () => {
    const evicted = (each: Pod): Pod => ({ ...each, status: { ...each.status!, phase: "Failed", reason: "Evicted" } });
    const deletedFirst = (saysLater: boolean): readonly string[] => {
      const history = new History(podGCReasons, { controllers: { terminatedPodGCThreshold: 1 } });
      history.store(node("n"));
      history.pass(120_000);
      history.store(on("n", "Succeeded", {}, "a"));
      history.pass(1_000);
      const made = new Date(history.nowMs).toISOString();
      const later = on("n", "Succeeded", { creationTimestamp: made }, "b");
      if (saysLater) history.store(later);
      history.store(evicted(later));
      history.remove(on("n", "Succeeded", {}, "a"), POD_GC);
      return history.violations;
    };
    expect(deletedFirst(false)).toEqual(["Pod default/a: is deleted by PodGC, before 1 older ones"]);
    expect(deletedFirst(true)).toEqual([]);
  });

  it("accepts what PodGC was last shown of a node, until a minute after that has changed", () => {
    const history = new History(podGCReasons);
    history.store(tainted);
    history.show(tainted, { component: POD_GC });
    history.store(node("out"));
    for (const name of ["a", "b", "c"]) history.store(on("out", "Failed", { deletionTimestamp }, name));
    history.pass(400_000);
    history.remove(on("out", "Failed", {}, "a"), POD_GC);
    history.show(node("out"), { component: POD_GC, type: "update" });
    history.pass(50_000);
    history.remove(on("out", "Failed", {}, "b"), POD_GC);
    expect(history.violations).toEqual([]);
    history.pass(20_000);
    history.remove(on("out", "Failed", {}, "c"), POD_GC);
    expect(history.violations).toHaveLength(1);
  });

  function leftBehind(plan = {}): History {
    const history = new History(podGCActs, { controllers: { terminatedPodGCThreshold: 1 }, ...plan });
    history.store(node("n"));
    history.store(on("n", "Running"));
    for (const name of ["b", "c"]) history.store(on("n", "Failed", {}, name));
    const held = on("n", "Failed", {}, "d");
    history.store({ ...held, metadata: { ...held.metadata, deletionTimestamp: "2026-03-02T10:00:00Z" } }, POD_GC);
    history.remove(node("n"));
    history.pass(190_000);
    return history;
  }

  const LEFT = [
    "Pod default/a: is Running on n, which does not exist",
    "pods: 2 that have ended are left, and the threshold is 1",
  ];

  it("wants pods of nodes that are gone, and those beyond the threshold, to be gone at last", () => {
    const history = leftBehind({ events: [{ at: "1s", nodeLost: "m" }] });
    history.happen(0, "nodeLost", "begin");
    history.rest();
    expect(history.violations).toEqual([]);
    history.pass(20_000);
    expect(history.violations).toEqual([]);
    history.rest();
    expect(history.violations).toEqual(LEFT);
  });

  it("wants pods to end that are being deleted, and have no node", () => {
    const left = (phase: string, nodeName: string, parts: Partial<Pod["metadata"]>): readonly string[] => {
      const history = new History(podGCActs);
      history.store(node("n"));
      const unbound = on(nodeName, phase);
      history.store({ ...unbound, metadata: { ...unbound.metadata, ...parts } }, "user");
      history.pass(190_000);
      expect(history.violations).toEqual([]);
      history.pass(20_000);
      return history.violations;
    };
    const deleted = { deletionTimestamp: "2026-03-02T10:00:00Z" };
    expect(left("Pending", "", deleted)).toEqual(["Pod default/a: is being deleted, has no node, and has not ended"]);
    expect([left("Failed", "", deleted), left("Pending", "", {}), left("Running", "n", deleted)]).toEqual([[], [], []]);
  });

  it("wants them to be gone before, where nothing has gone wrong for so long", () => {
    const history = leftBehind();
    expect(history.violations).toEqual([]);
    history.pass(20_000);
    expect(history.violations).toEqual(LEFT);

    for (const disturb of [
      (disturbed: History) => disturbed.happen(0, "apply", "begin"),
      (disturbed: History) => disturbed.happen(0, "watchSilent", "end"),
      (disturbed: History) => disturbed.show(node("m"), { component: POD_GC }),
    ]) {
      const disturbed = leftBehind();
      disturb(disturbed);
      disturbed.pass(20_000);
      expect(disturbed.violations).toEqual([]);
    }
  });
});

describe("S16 TTL reason", () => {
  const finished = (ttlSecondsAfterFinished?: number) =>
    job(
      { conditions: [condition("Complete", "", START_MS)] },
      ttlSecondsAfterFinished === undefined ? {} : { ttlSecondsAfterFinished },
    );

  function deleted(history: History, stored = finished(60)): readonly string[] {
    history.store(stored);
    history.pass(30_000);
    history.store(going(stored), TTL);
    return history.violations;
  }

  const going = (stored: ReturnType<typeof finished>, ...finalizers: string[]) => ({
    ...stored,
    metadata: {
      ...stored.metadata,
      deletionTimestamp: "2026-03-02T10:00:00Z",
      finalizers: finalizers.length === 0 ? ["foregroundDeletion"] : finalizers,
    },
  });

  it("wants its pods to go first", () => {
    const reported = (remove: (history: History) => void): readonly string[] => {
      const history = new History(ttlReason);
      history.store(finished(30));
      history.pass(30_000);
      remove(history);
      return history.violations;
    };
    const wrong = ["Job default/pi: is deleted by ttl-after-finished-controller, and its pods are not to go first"];
    expect(reported((history) => history.store(going(finished(30), "orphan"), TTL))).toEqual(wrong);
    expect(reported((history) => history.remove(finished(30), TTL))).toEqual(wrong);
    expect(reported((history) => history.remove(finished(30), "user"))).toEqual([]);
  });

  it("accepts the deletion of a Job whose time is over, and refuses any other", () => {
    expect(deleted(new History(ttlReason), finished(30))).toEqual([]);
    expect(deleted(new History(ttlReason))).toEqual([
      "Job default/pi: is deleted by ttl-after-finished-controller, 30 s before its time is over",
    ]);
    expect(deleted(new History(ttlReason), finished())).toEqual([
      "Job default/pi: is deleted by ttl-after-finished-controller, and has no ttlSecondsAfterFinished",
    ]);
    expect(deleted(new History(ttlReason), job({}, { ttlSecondsAfterFinished: 0 }))).toEqual([
      "Job default/pi: is deleted by ttl-after-finished-controller, and has not finished",
    ]);
  });

  it("accepts one whose time was prolonged after the last look (X10), and none that was before it", () => {
    const prolonged = (looksFirst: boolean): readonly string[] => {
      const history = new History(ttlReason);
      const look = (): void =>
        history.answer({
          component: TTL,
          verb: "get",
          resource: "jobs.batch",
          name: "pi",
          code: 200,
          sentMs: history.nowMs,
        });
      history.store(finished(10));
      history.pass(10_000);
      if (looksFirst) look();
      history.pass(10);
      history.store(finished(30));
      history.store(finished(60));
      history.pass(10);
      if (!looksFirst) look();
      history.store(going(finished(60)), TTL);
      return history.violations;
    };
    expect(prolonged(true)).toEqual([]);
    expect(prolonged(false)).toHaveLength(1);
  });

  it("wants it to have looked at all", () => {
    const blind = new History(ttlReason);
    blind.store(finished(10));
    blind.pass(10_000);
    expect(deleted(blind)).toHaveLength(1);
  });

  it("goes by the controller's clock", () => {
    const jumped = new History(ttlReason, {
      events: [
        { at: "1s", clockJump: "+30s" },
        { at: "2s", clockJump: "-30s" },
      ],
    });
    jumped.happen(0, "clockJump", "begin");
    expect(deleted(jumped)).toEqual([]);
    jumped.happen(1, "clockJump", "begin");
    expect(deleted(jumped, finished(120))).toHaveLength(1);
  });

  it("wants expired Jobs to be gone at last", () => {
    const history = new History(ttlActs);
    history.store(finished(60));
    history.pass(170_000);
    history.rest();
    expect(history.violations).toEqual([]);
    history.pass(20_000);
    history.rest();
    expect(history.violations).toEqual(["Job default/pi: is left 130 s after its time was over"]);
  });
});
