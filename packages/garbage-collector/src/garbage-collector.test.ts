import { expect, test } from "vitest";

import { configMaps, cronJobs, events, jobs, namespaces, nodes, pods, secrets } from "@kubewright/api";
import { silentLogger } from "@kubewright/controller";

import { Harness, UNKNOWN_UID, ownedBy, ownedByMap, unknownMap, widgets } from "../test/harness.js";
import { GarbageCollector } from "./garbage-collector.js";

const HOLD = "example.com/hold";
const podTemplate = { spec: { containers: [{ name: "c", image: "i" }], restartPolicy: "Never" } };
const jobSpec = { spec: { template: podTemplate } };

test("the dependent of a deleted owner is looked at and deleted as it was; its owner is not asked for", async () => {
  const harness = new Harness();
  const owner = await harness.createMap("owner");
  const dependent = await harness.createMap("a", { owners: [ownedByMap(owner)] });
  await harness.start();
  expect(harness.sent()).toEqual([]);
  await harness.deleteMap("owner");
  expect(harness.sent()).toEqual(["GET configmaps/a", "DELETE configmaps/a Background"]);
  const { uid, resourceVersion } = dependent.metadata;
  expect(harness.bodies).toMatchObject([{ preconditions: { uid, resourceVersion } }]);
  expect(await harness.findMap("a")).toBeUndefined();
  expect(harness.decisions).toMatchObject([
    { object: { kind: "ConfigMap", name: "a" }, action: "deleted", reason: "owner ConfigMap owner is gone" },
  ]);
  await harness.settle(3600);
  expect(harness.sent()).toEqual([]);
  expect(harness.clock.pendingTimers).toBe(0);
  await harness.stop();
});

test("an owner that never was is asked for once, whatever it was said to own", async () => {
  const harness = new Harness();
  for (const name of ["a", "b", "c"]) await harness.createMap(name, { owners: [unknownMap()] });
  await harness.start();
  expect(harness.sent().sort()).toEqual([
    "DELETE configmaps/a Background",
    "DELETE configmaps/b Background",
    "DELETE configmaps/c Background",
    "GET configmaps/a",
    "GET configmaps/b",
    "GET configmaps/c",
    "GET configmaps/nobody",
  ]);
  await harness.stop();
});

test("of a solid and a dangling owner only the reference to the dangling one goes", async () => {
  const harness = new Harness();
  const solid = await harness.createMap("solid");
  const gone = await harness.createMap("gone");
  await harness.createMap("a", { owners: [ownedByMap(solid), ownedByMap(gone)] });
  await harness.start();
  await harness.deleteMap("gone");
  expect(harness.sent()).toEqual(["GET configmaps/a", "GET configmaps/solid", "PATCH configmaps/a"]);
  expect((await harness.findMap("a"))?.ownerReferences).toEqual([ownedByMap(solid)]);
  await harness.stop();
});

test("of a solid and a waiting owner, the reference to the waiting one is removed, and its deletion completes", async () => {
  const harness = new Harness();
  const solid = await harness.createMap("solid");
  const waiting = await harness.createMap("waiting");
  await harness.createMap("a", { owners: [ownedByMap(solid), ownedByMap(waiting, { blockOwnerDeletion: true })] });
  await harness.start();
  await harness.deleteMap("waiting", "Foreground");
  expect(await harness.findMap("waiting")).toBeUndefined();
  expect((await harness.findMap("a"))?.ownerReferences).toEqual([ownedByMap(solid)]);
  await harness.stop();
});

test("an object whose owners are all gone is deleted", async () => {
  const harness = new Harness();
  await harness.createMap("a", {
    owners: [unknownMap(), unknownMap({ name: "else", uid: UNKNOWN_UID.replace("1", "2") })],
  });
  await harness.start();
  expect(await harness.findMap("a")).toBeUndefined();
  await harness.stop();
});

test("foreground deletion waits for blocking dependents only", async () => {
  const harness = new Harness();
  const owner = await harness.createMap("owner");
  await harness.createMap("blocking", {
    owners: [ownedByMap(owner, { blockOwnerDeletion: true })],
    finalizers: [HOLD],
  });
  await harness.createMap("other", { owners: [ownedByMap(owner)], finalizers: [HOLD] });
  await harness.start();
  await harness.deleteMap("owner", "Foreground");
  expect(await harness.findMap("owner")).toBeDefined();
  expect((await harness.findMap("other"))?.deletionTimestamp).toBeDefined();
  await harness.settle(60);
  expect(await harness.findMap("owner")).toBeDefined();
  await harness.patchMap("blocking", { finalizers: null });
  expect(await harness.findMap("owner")).toBeUndefined();
  expect(await harness.findMap("other")).toBeDefined();
  await harness.stop();
});

test("a reference that does not block any more completes the owner's deletion", async () => {
  const harness = new Harness();
  const owner = await harness.createMap("owner");
  const blocking = ownedByMap(owner, { blockOwnerDeletion: true });
  await harness.createMap("a", { owners: [blocking], finalizers: [HOLD] });
  await harness.start();
  await harness.deleteMap("owner", "Foreground");
  expect(await harness.findMap("owner")).toBeDefined();
  await harness.patchMap("a", { ownerReferences: [{ ...blocking, blockOwnerDeletion: false }] });
  expect(await harness.findMap("owner")).toBeUndefined();
  await harness.stop();
});

test("foreground deletion goes from leaves to root, level by level", async () => {
  const harness = new Harness();
  const cronJob = await harness.create(cronJobs, "c", {
    more: { spec: { schedule: "0 0 1 1 *", jobTemplate: jobSpec } },
  });
  const block = { controller: true, blockOwnerDeletion: true };
  const job = await harness.create(jobs, "j", { owners: [ownedBy(cronJobs, cronJob, block)], more: jobSpec });
  await harness.create(pods, "p", { owners: [ownedBy(jobs, job, block)], more: podTemplate });
  await harness.start();
  await harness.delete(cronJobs, "c", "Foreground");
  const sent = harness.sent();
  expect(sent.filter((request) => request.startsWith("DELETE"))).toEqual([
    "DELETE jobs/j Foreground",
    "DELETE pods/p Background",
  ]);
  expect(sent.filter((request) => request.startsWith("PATCH"))).toEqual(["PATCH jobs/j", "PATCH cronjobs/c"]);
  expect(await harness.find(cronJobs, "c")).toBeUndefined();
  await harness.stop();
});

test("a cascade in the background goes from root to leaves", async () => {
  const harness = new Harness();
  const cronJob = await harness.create(cronJobs, "c", {
    more: { spec: { schedule: "0 0 1 1 *", jobTemplate: jobSpec } },
  });
  const job = await harness.create(jobs, "j", { owners: [ownedBy(cronJobs, cronJob)], more: jobSpec });
  await harness.create(pods, "p", { owners: [ownedBy(jobs, job)], more: podTemplate });
  await harness.start();
  await harness.delete(cronJobs, "c");
  expect(harness.sent()).toEqual(["GET jobs/j", "DELETE jobs/j Background", "GET pods/p", "DELETE pods/p Background"]);
  await harness.stop();
});

test("two objects that own and block each other end both", async () => {
  const harness = new Harness();
  const a = await harness.createMap("a");
  const b = await harness.createMap("b", { owners: [ownedByMap(a, { blockOwnerDeletion: true })] });
  await harness.patchMap("a", { ownerReferences: [ownedByMap(b, { blockOwnerDeletion: true })] });
  await harness.start();
  await harness.deleteMap("a", "Foreground");
  await harness.settle(60);
  expect([await harness.findMap("a"), await harness.findMap("b")]).toEqual([undefined, undefined]);
  await harness.stop();
});

test("an object that was released stays so when its reference is made not to block", async () => {
  const harness = new Harness();
  const a = await harness.createMap("a");
  const held = ownedByMap(a, { blockOwnerDeletion: true, controller: true });
  const b = await harness.createMap("b", { owners: [held] });
  await harness.patchMap("a", { ownerReferences: [ownedByMap(b, { blockOwnerDeletion: true })] });
  await harness.start();
  await harness.patchMap("b", { ownerReferences: [{ ...held, controller: false }] });
  await harness.deleteMap("a", "Foreground");
  await harness.settle(60);
  const { uid } = b.metadata;
  const released = { ...held, controller: false, blockOwnerDeletion: false };
  expect(harness.bodies).toContainEqual({ metadata: { uid, ownerReferences: [released] } });
  await harness.stop();
});

test("orphaning is complete when the references of all dependents are removed; a refused removal is retried", async () => {
  const harness = new Harness();
  const owner = await harness.createMap("owner");
  for (const name of ["a", "b"]) await harness.createMap(name, { owners: [ownedByMap(owner)] });
  await harness.start();
  harness.intercept = (request) => (request === "PATCH configmaps/b" ? 500 : undefined);
  await harness.deleteMap("owner", "Orphan");
  expect((await harness.findMap("owner"))?.finalizers).toEqual(["orphan"]);
  expect((await harness.findMap("a"))?.ownerReferences).toBeUndefined();
  expect((await harness.findMap("b"))?.ownerReferences).toHaveLength(1);
  harness.intercept = () => undefined;
  await harness.settle(60);
  expect(await harness.findMap("owner")).toBeUndefined();
  expect((await harness.findMap("b"))?.ownerReferences).toBeUndefined();
  await harness.settle(60);
  expect(await harness.findMap("a")).toBeDefined();
  await harness.stop();
});

test("a dependent that is gone already does not hold up orphaning", async () => {
  const harness = new Harness();
  const owner = await harness.createMap("owner");
  await harness.createMap("a", { owners: [ownedByMap(owner)] });
  await harness.start();
  harness.intercept = async (request) => {
    if (request === "PATCH configmaps/a")
      await harness.admin.resource(configMaps).delete("a", { namespace: "default" });
  };
  await harness.deleteMap("owner", "Orphan");
  expect(harness.sent()).toEqual(["PATCH configmaps/a", "GET configmaps/owner", "PATCH configmaps/owner"]);
  await harness.stop();
});

test.each(["Orphan", "Foreground"] as const)(
  "%s deletion that began before the start is carried out",
  async (policy) => {
    const harness = new Harness();
    const owner = await harness.createMap("owner");
    await harness.createMap("a", { owners: [ownedByMap(owner, { blockOwnerDeletion: true })] });
    await harness.deleteMap("owner", policy);
    await harness.start();
    expect(await harness.findMap("owner")).toBeUndefined();
    expect((await harness.findMap("a")) !== undefined).toBe(policy === "Orphan");
    await harness.stop();
  },
);

test.each([
  ["orphan", "Orphan"],
  ["foregroundDeletion", "Foreground"],
])("an object with the finalizer %s is deleted accordingly", async (finalizer, policy) => {
  const harness = new Harness();
  await harness.createMap("a", { owners: [unknownMap()], finalizers: [finalizer] });
  await harness.start();
  expect(harness.sent()).toContain(`DELETE configmaps/a ${policy}`);
  expect(await harness.findMap("a")).toBeUndefined();
  await harness.stop();
});

test("an object that changes all the time is deleted all the same, unless its owners change", async () => {
  const harness = new Harness();
  await harness.createMap("a", { owners: [unknownMap()] });
  harness.intercept = async (request) => {
    if (request !== "DELETE configmaps/a Background") return;
    harness.intercept = () => undefined;
    await harness.admin
      .resource(configMaps)
      .patch("a", { type: "merge", body: { data: { x: "y" } } }, { namespace: "default" });
  };
  await harness.start();
  expect(harness.sent().slice(-3)).toEqual([
    "DELETE configmaps/a Background",
    "GET configmaps/a",
    "DELETE configmaps/a Background",
  ]);
  expect(harness.bodies.at(-1)).toMatchObject({ preconditions: { uid: expect.any(String) } });
  expect(harness.bodies.at(-1)).not.toHaveProperty("preconditions.resourceVersion");
  await harness.stop();
});

test("an object that gets another owner at the last moment is looked at again, and kept", async () => {
  const harness = new Harness();
  const solid = await harness.createMap("solid");
  await harness.createMap("a", { owners: [unknownMap()] });
  harness.intercept = async (request) => {
    if (request !== "DELETE configmaps/a Background") return;
    harness.intercept = () => undefined;
    const body = { metadata: { ownerReferences: [unknownMap(), ownedByMap(solid)] } };
    await harness.admin.resource(configMaps).patch("a", { type: "merge", body }, { namespace: "default" });
  };
  await harness.start();
  await harness.settle(60);
  expect((await harness.findMap("a"))?.ownerReferences).toEqual([ownedByMap(solid)]);
  expect(harness.sent().filter((request) => request.startsWith("DELETE"))).toHaveLength(1);
  await harness.stop();
});

test("an object that is gone when its deletion is refused is taken as gone", async () => {
  const harness = new Harness();
  await harness.createMap("a", { owners: [unknownMap()] });
  harness.intercept = async (request) => {
    if (request !== "DELETE configmaps/a Background") return undefined;
    await harness.admin.resource(configMaps).delete("a", { namespace: "default" });
    return 409;
  };
  await harness.start();
  await harness.settle(60);
  expect(harness.sent().slice(-2)).toEqual(["DELETE configmaps/a Background", "GET configmaps/a"]);
  expect(harness.clock.pendingTimers).toBe(0);
  await harness.stop();
});

test.each(["owner", "dependent"])(
  "an owner in another namespace does not count, and that is reported (%s first)",
  async (first) => {
    const harness = new Harness();
    await harness.create(namespaces, "other");
    const owner = await harness.createMap("owner", { namespace: "other" });
    await harness.start();
    if (first === "owner") {
      await harness.createMap("a", { owners: [ownedByMap(owner)] });
    } else {
      // Lists are ordered by namespace and name: after a restart the dependent comes before its owner.
      await harness.stop();
      await harness.createMap("a", { owners: [ownedByMap(owner)] });
      await harness.start();
    }
    await harness.settle(10);
    expect(await harness.findMap("a")).toBeUndefined();
    expect(await harness.findMap("owner", "other")).toBeDefined();
    const { uid } = owner.metadata;
    expect(await harness.eventTexts()).toEqual([
      `Warning OwnerRefInvalidNamespace a ownerRef [v1/ConfigMap, namespace: default, name: owner, uid: ${uid}] does not exist in namespace "default"`,
    ]);
    await harness.stop();
  },
);

test("a cluster-scoped object with a namespaced owner is never deleted, is reported, and is not retried for ever", async () => {
  const harness = new Harness();
  const owner = await harness.createMap("owner");
  await harness.start();
  await harness.create(nodes, "n", { owners: [ownedByMap(owner)] });
  await harness.create(nodes, "m", { owners: [unknownMap()] });
  harness.sent();
  expect(await harness.eventTexts()).toEqual([expect.stringContaining('does not exist in namespace ""')]);
  await harness.settle(3600);
  expect(harness.sent()).toEqual([]);
  expect(harness.clock.pendingTimers).toBe(0);
  expect(await harness.find(nodes, "n")).toBeDefined();
  expect(await harness.find(nodes, "m")).toBeDefined();
  await harness.stop();
});

test("a cluster-scoped owner keeps namespaced dependents, also those seen before it", async () => {
  const harness = new Harness();
  const owner = await harness.create(nodes, "n");
  await harness.createMap("a", { owners: [ownedBy(nodes, owner)] });
  await harness.start({ sharedResources: [] });
  await harness.settle(60);
  expect(await harness.findMap("a")).toBeDefined();
  await harness.delete(nodes, "n");
  expect(await harness.findMap("a")).toBeUndefined();
  await harness.stop();
});

test("an owner of unknown type keeps its dependents, and is looked for with back-off", async () => {
  const harness = new Harness();
  await harness.createMap("a", { owners: [unknownMap({ apiVersion: "example.com/v1", kind: "Widget" })] });
  await harness.start();
  await harness.settle(3600);
  expect(harness.sent()).toEqual([]);
  expect(await harness.findMap("a")).toBeDefined();
  expect(harness.clock.pendingTimers).toBe(1);
  await harness.createWidgetType();
  await harness.settle(1000);
  expect(await harness.findMap("a")).toBeUndefined();
  await harness.stop();
});

test("a reference with the right UID and the wrong kind does not count; right ones of others do", async () => {
  const harness = new Harness();
  const owner = await harness.createMap("owner");
  await harness.createMap("right", { owners: [ownedByMap(owner)] });
  await harness.createMap("wrong", { owners: [ownedByMap(owner, { kind: "Secret" })] });
  await harness.start();
  await harness.settle(10);
  expect(await harness.findMap("wrong")).toBeUndefined();
  expect(await harness.findMap("right")).toBeDefined();
  await harness.stop();
});

test("an owner that was recreated is another object", async () => {
  const harness = new Harness();
  const old = await harness.createMap("owner");
  await harness.createMap("a", { owners: [ownedByMap(old)] });
  await harness.deleteMap("owner");
  await harness.createMap("owner");
  await harness.start();
  expect(await harness.findMap("a")).toBeUndefined();
  expect(await harness.findMap("owner")).toBeDefined();
  await harness.stop();
});

test("an object that is already being deleted is left alone", async () => {
  const harness = new Harness();
  const owner = await harness.createMap("owner");
  await harness.createMap("a", { owners: [ownedByMap(owner)], finalizers: [HOLD] });
  await harness.deleteMap("a");
  await harness.start();
  await harness.deleteMap("owner");
  expect(harness.sent()).toEqual([]);
  await harness.stop();
});

test("a finalizer that others get in the way of is removed in the end", async () => {
  const harness = new Harness();
  await harness.createMap("a");
  await harness.start();
  let conflicts = 0;
  harness.intercept = (request) => (request === "PATCH configmaps/a" && conflicts++ < 6 ? 409 : undefined);
  await harness.deleteMap("a", "Foreground");
  await harness.settle(0.5);
  expect(conflicts).toBeGreaterThan(3);
  await harness.settle(10);
  expect(await harness.findMap("a")).toBeUndefined();
  await harness.stop();
});

test("events are no business of the garbage collector", async () => {
  const harness = new Harness();
  await harness.start();
  await harness.create(events, "e", {
    owners: [unknownMap()],
    more: { involvedObject: { namespace: "default", kind: "ConfigMap", name: "a" } },
  });
  await harness.settle(60);
  expect(harness.sent()).toEqual([]);
  await harness.stop();
});

test("custom resources are collected from the moment their type exists, and patched as they can be", async () => {
  const harness = new Harness();
  await harness.start();
  await harness.createWidgetType();
  const solid = await harness.createMap("solid");
  await harness.create(widgets, "kept", {
    owners: [ownedByMap(solid), unknownMap()],
    more: { apiVersion: "example.com/v1", kind: "Widget" },
  });
  await harness.create(widgets, "gone", {
    owners: [unknownMap()],
    more: { apiVersion: "example.com/v1", kind: "Widget" },
  });
  await harness.settle(10);
  expect(await harness.find(widgets, "gone")).toBeUndefined();
  expect((await harness.find(widgets, "kept"))?.ownerReferences).toEqual([ownedByMap(solid)]);
  expect(harness.sent().filter((request) => request === "PATCH widgets/kept")).toHaveLength(2);
  expect(harness.bodies).toContainEqual({
    metadata: { resourceVersion: expect.any(String), ownerReferences: [ownedByMap(solid)] },
  });
  await harness.stop();
});

const widget = { apiVersion: "example.com/v1", kind: "Widget" };

test("the merge patch of a custom resource goes by what is cached; what has changed since is tried again", async () => {
  const harness = new Harness();
  await harness.start();
  await harness.createWidgetType();
  const solid = await harness.createMap("solid");
  const gone = await harness.createMap("gone");
  await harness.create(widgets, "a", { owners: [ownedByMap(solid), ownedByMap(gone)], more: widget });
  harness.sent();
  let others = 0;
  harness.intercept = async (request) => {
    // Another client writes after the first of the two patches, which is rejected because of its type.
    if (request !== "PATCH widgets/a" || ++others !== 2) return;
    const body = { metadata: { labels: { other: "writer" } } };
    await harness.admin.resource(widgets).patch("a", { type: "merge", body }, { namespace: "default" });
  };
  await harness.deleteMap("gone");
  await harness.settle(1);
  const look = ["GET widgets/a", "GET configmaps/solid", "PATCH widgets/a", "PATCH widgets/a"];
  expect(harness.sent()).toEqual([...look, ...look]);
  expect((await harness.find(widgets, "a"))?.ownerReferences).toEqual([ownedByMap(solid)]);
  await harness.stop();
});

test("custom resources that own and block each other end both", async () => {
  const harness = new Harness();
  await harness.start();
  await harness.createWidgetType();
  const blocking = { blockOwnerDeletion: true };
  const a = await harness.create(widgets, "a", { more: widget });
  const b = await harness.create(widgets, "b", { owners: [ownedBy(widgets, a, blocking)], more: widget });
  const body = { metadata: { ownerReferences: [ownedBy(widgets, b, blocking)] } };
  await harness.admin.resource(widgets).patch("a", { type: "merge", body }, { namespace: "default" });
  await harness.settle();
  await harness.delete(widgets, "a", "Foreground");
  await harness.settle(60);
  expect([await harness.find(widgets, "a"), await harness.find(widgets, "b")]).toEqual([undefined, undefined]);
  await harness.stop();
});

test("a failed removal is reported with upstream's text", async () => {
  const harness = new Harness();
  const logged: unknown[] = [];
  const logger = { ...silentLogger, error: ({ err }: { err?: unknown }, text: string) => void logged.push(text, err) };
  const owner = await harness.createMap("owner");
  const [a, b] = [
    await harness.createMap("a", { owners: [ownedByMap(owner)] }),
    await harness.createMap("b", { owners: [ownedByMap(owner)] }),
  ];
  const named = ({ metadata: { name, uid } }: typeof a) =>
    `[v1/ConfigMap, namespace: default, name: ${name}, uid: ${uid}]`;
  await harness.start({ logger });
  const refuseOnce = (...requests: string[]) => {
    const left = new Set(requests);
    harness.intercept = (request) => (left.delete(request) ? 500 : undefined);
  };

  refuseOnce("PATCH configmaps/a", "PATCH configmaps/b", "GET configmaps/owner");
  await harness.deleteMap("owner", "Orphan");
  await harness.settle(1);
  expect(logged.splice(0)).toEqual([
    "Unhandled Error",
    `orphanDependents for ${named(owner)} failed with failed to orphan dependents of owner ${named(owner)}, got errors: [orphaning ${named(a)} failed, made to fail, orphaning ${named(b)} failed, made to fail]`,
    "Unhandled Error",
    `removeOrphanFinalizer for ${named(owner)} failed with cannot finalize owner ${named(owner)}, because cannot get it: made to fail. The garbage collector will retry later`,
  ]);
  expect(await harness.findMap("owner")).toBeUndefined();

  let gets = 0;
  // The first GET reads the object, the second its finalizers.
  harness.intercept = (request) => (request === "GET configmaps/a" && ++gets === 2 ? 500 : undefined);
  await harness.deleteMap("a", "Foreground");
  await harness.settle(1);
  expect(logged.splice(0)).toEqual([
    "Unhandled Error",
    `error syncing item ${named(a)}: cannot finalize owner ${named(a)}, because cannot get it: made to fail. The garbage collector will retry later`,
  ]);
  expect(await harness.findMap("a")).toBeUndefined();

  let conflicts = 0;
  harness.intercept = (request) => (request === "PATCH configmaps/b" && conflicts++ < 4 ? 409 : undefined);
  await harness.deleteMap("b", "Foreground");
  await harness.settle(10);
  expect(logged.splice(0)).toEqual([
    "Unhandled Error",
    `error syncing item ${named(b)}: updateMaxRetries(4) has reached. The garbage collector will retry later for owner ${named(b)}`,
  ]);

  await harness.createMap("c", { owners: [unknownMap({ kind: "Nothing" })] });
  expect(logged.slice(0, 2)).toEqual(["error syncing item", "unable to get REST mapping for v1/Nothing."]);
  await harness.stop();
});

test("a deletion that is refused for another reason than its owners fails with the first refusal", async () => {
  const harness = new Harness();
  const logged: unknown[] = [];
  const logger = { ...silentLogger, error: ({ err }: { err?: unknown }) => void logged.push(err) };
  await harness.start({ logger });
  let gets = 0;
  harness.intercept = async (request) => {
    if (request === "GET configmaps/a" && ++gets === 2) return 503;
    if (request !== "DELETE configmaps/a Background" || gets !== 1) return undefined;
    const body = { metadata: { labels: { other: "writer" } } };
    await harness.admin.resource(configMaps).patch("a", { type: "merge", body }, { namespace: "default" });
    return undefined;
  };
  await harness.createMap("a", { owners: [unknownMap()] });
  await harness.settle(1);
  expect(logged).toEqual([expect.stringContaining("Operation cannot be fulfilled on")]);
  expect(await harness.findMap("a")).toBeUndefined();
  await harness.stop();
});

test("an owner that was deleted while the watch was broken is missed when it comes back", async () => {
  const harness = new Harness();
  const owner = await harness.createMap("owner");
  await harness.createMap("a", { owners: [ownedByMap(owner)] });
  await harness.start();
  await harness.disconnect();
  await harness.deleteMap("owner");
  expect(harness.sent()).toEqual([]);
  await harness.reconnect();
  expect(await harness.findMap("a")).toBeUndefined();
  await harness.stop();
});

test("an owner that was replaced while the watch was broken is missed when it comes back", async () => {
  const harness = new Harness();
  const owner = await harness.createMap("owner");
  await harness.createMap("a", { owners: [ownedByMap(owner)] });
  await harness.start();
  await harness.disconnect();
  await harness.deleteMap("owner");
  await harness.createMap("owner");
  await harness.reconnect();
  expect(await harness.findMap("a")).toBeUndefined();
  expect(await harness.findMap("owner")).toBeDefined();
  await harness.stop();
});

test("an owner that was created and deleted unobserved is found absent at the next check", async () => {
  const harness = new Harness();
  harness.hidden = "secrets";
  await harness.start();
  await harness.settle(31);
  const owner = await harness.create(secrets, "owner");
  await harness.createMap("a", { owners: [ownedBy(secrets, owner)] });
  await harness.settle(1);
  expect(harness.sent().slice(0, 3)).toEqual(["GET secrets/owner", "GET secrets/owner", "GET secrets/owner"]);
  await harness.delete(secrets, "owner");
  await harness.settle(10);
  expect(harness.sent().slice(-3)).toEqual(["GET secrets/owner", "GET configmaps/a", "DELETE configmaps/a Background"]);
  await harness.stop();
});

test("a dependent created just before its owner went is collected when it is seen", async () => {
  const harness = new Harness();
  const owner = await harness.create(cronJobs, "c", {
    more: { spec: { schedule: "0 0 1 1 *", jobTemplate: jobSpec } },
  });
  await harness.start();
  await harness.delete(cronJobs, "c");
  await harness.create(jobs, "j", { owners: [ownedBy(cronJobs, owner)], more: jobSpec });
  expect(harness.sent()).toEqual(["GET cronjobs/c", "GET jobs/j", "DELETE jobs/j Background"]);
  await harness.stop();
});

test("workers begin after 30 s even if a cache does not sync", async () => {
  const harness = new Harness();
  harness.hidden = "secrets";
  await harness.createMap("a", { owners: [unknownMap()] });
  await harness.start();
  await harness.settle(29.999);
  expect(harness.sent()).toEqual([]);
  expect(harness.syncErrors).toBe(0);
  await harness.settle(0.001);
  expect(harness.syncErrors).toBe(1);
  expect(await harness.findMap("a")).toBeUndefined();
  await harness.stop();
});

test("discovery that fails is tried again, and what failed in part keeps what was there", async () => {
  const harness = new Harness();
  harness.discoveryFaults.set("/apis", 500);
  await harness.start();
  expect(harness.syncErrors).toBe(1);
  harness.discoveryFaults.clear();
  await harness.createMap("a", { owners: [unknownMap()] });
  await harness.settle(30);
  expect(await harness.findMap("a")).toBeUndefined();
  harness.discoveryFaults.set("/api/v1", 500);
  await harness.createWidgetType();
  await harness.createMap("b", { owners: [unknownMap()] });
  await harness.settle(1);
  expect(await harness.findMap("b")).toBeUndefined();
  await harness.stop();
});

test("discovery is repeated as often as asked, and holds no foreground timer", async () => {
  const harness = new Harness();
  await harness.start({ discoveryIntervalMs: 30_000 });
  const once = harness.discoveryRequests.splice(0).length;
  await harness.settle(60);
  expect(harness.discoveryRequests).toHaveLength(2 * once);
  expect(harness.clock.pendingTimers).toBe(0);
  await harness.stop();
});

test("a garbage collector that is handed no caches has its own, and runs and stops them itself", async () => {
  const harness = new Harness();
  const owner = await harness.createMap("owner");
  await harness.createMap("dependent", { owners: [ownedByMap(owner)] });
  const { admin: client, clock, random } = harness;
  const stop = new AbortController();
  const running = new GarbageCollector({ client, clock, random }).run(stop.signal);
  await harness.settle(1);
  await harness.deleteMap("owner");
  await harness.settle(1);
  expect(await harness.find(configMaps, "dependent")).toBeUndefined();
  stop.abort();
  await running;
  expect({ timers: clock.pendingTimers, holds: clock.keepAliveCount }).toEqual({ timers: 0, holds: 0 });
});
