import { goQuote } from "@kubewright/cron";
import { silentLogger } from "@kubewright/clock";
import { expect, test, vi } from "vitest";

import { Harness } from "../test/harness.js";

const ORPHAN_CONDITION = {
  type: "DisruptionTarget",
  status: "True",
  reason: "DeletionByPodGC",
  message: "PodGC: node no longer exists",
};

test("ended pods beyond the threshold are deleted as they are", async () => {
  const harness = new Harness({ terminatedPodThreshold: 1 });
  for (const name of ["a", "b", "c"]) {
    await harness.createPod(name, { phase: "Succeeded" });
    await harness.advance(1);
  }
  const uids = [await harness.getPod("a"), await harness.getPod("b")].map((pod) => pod?.metadata.uid);
  await harness.start();
  expect(harness.sent()).toEqual(["DELETE pods/a", "DELETE pods/b"]);
  const options = { kind: "DeleteOptions", apiVersion: "v1", gracePeriodSeconds: 0 };
  expect(harness.bodies).toEqual(uids.map((uid) => ({ ...options, preconditions: { uid } })));
  expect(await harness.podNames()).toEqual(["c"]);
  expect(harness.counts).toEqual({ "total terminated": 2 });
  await harness.stop();
});

test("an ended pod without a phase is marked Failed before it is deleted", async () => {
  const harness = new Harness({
    terminatedPodThreshold: 1,
    // The API server gives every pod a phase, so the transform removes it from the cache.
    transform: (object) => ({ ...object, status: {} }),
  });
  await harness.createPod("a", { finalizers: ["example.com/hold"] });
  await harness.createPod("b");
  await harness.start();
  expect(harness.sent()).toEqual(["PATCH pods/a/status", "DELETE pods/a"]);
  expect((await harness.getPod("a"))?.status).toMatchObject({ phase: "Failed", observedGeneration: 1 });
  await harness.stop();
});

test("a terminating pod on a node that is out of service is marked Failed and deleted, without a condition", async () => {
  const harness = new Harness();
  await harness.createNode("n", { ready: "False", taint: true });
  await harness.createPod("a", { node: "n", phase: "Running", finalizers: ["example.com/hold"] });
  await harness.createPod("b", { node: "n", phase: "Running" });
  await harness.deletePod("a");
  await harness.start();
  expect(harness.sent()).toEqual(["PATCH pods/a/status", "DELETE pods/a"]);
  const pod = await harness.getPod("a");
  expect(pod?.status?.phase).toBe("Failed");
  expect(pod?.status?.conditions ?? []).not.toContainEqual(expect.objectContaining({ type: "DisruptionTarget" }));
  expect(pod?.metadata.deletionGracePeriodSeconds).toBe(0);
  expect(harness.counts).toEqual({ "total out-of-service": 1 });
  await harness.stop();
});

test("pods are given up in the first pass after their node has been missing for 40 s", async () => {
  const harness = new Harness();
  await harness.createPod("failed", { node: "n", phase: "Failed" });
  await harness.createPod("running", { node: "n", phase: "Running", finalizers: ["example.com/hold"] });
  await harness.start();
  await harness.advance(39.999);
  expect(harness.sent()).toEqual([]);
  await harness.advance(0.001);
  expect(harness.sent()).toEqual([
    "GET nodes/n",
    "DELETE pods/failed",
    "PATCH pods/running/status",
    "DELETE pods/running",
  ]);
  expect(await harness.getPod("failed")).toBeUndefined();
  const pod = await harness.getPod("running");
  expect(pod?.status?.phase).toBe("Failed");
  expect(pod?.status?.conditions).toContainEqual({
    ...ORPHAN_CONDITION,
    lastProbeTime: null,
    lastTransitionTime: "2026-03-02T10:00:40Z",
    observedGeneration: 1,
  });
  expect(pod?.metadata.deletionGracePeriodSeconds).toBe(0);
  expect(harness.counts).toEqual({ "total orphaned": 2 });
  expect(harness.decisions).toMatchObject([
    { name: "failed", reason: "orphaned", markedFailed: false, nodeName: "n" },
    { name: "running", reason: "orphaned", markedFailed: true, nodeName: "n" },
  ]);
  await harness.stop();
});

test("an orphan that lingers on a finalizer is deleted again after another quarantine", async () => {
  const harness = new Harness();
  await harness.createPod("a", { node: "n", phase: "Running", finalizers: ["example.com/hold"] });
  await harness.start();
  await harness.advance(40);
  harness.sent();
  await harness.advance(39);
  expect(harness.sent()).toEqual([]);
  await harness.advance(1);
  expect(harness.sent()).toEqual(["GET nodes/n", "DELETE pods/a"]);
  await harness.stop();
});

test("one more check of the node follows the deletion of its pods, and then nothing is left to do", async () => {
  const harness = new Harness();
  await harness.createPod("a", { node: "n", phase: "Running" });
  await harness.start();
  await harness.advance(40);
  expect(harness.sent()).toEqual(["GET nodes/n", "PATCH pods/a/status", "DELETE pods/a"]);
  await harness.advance(60);
  expect(harness.sent()).toEqual(["GET nodes/n"]);
  await harness.advance(3600);
  expect(harness.sent()).toEqual([]);
  await harness.stop();
});

test("a node that the API server knows, though the cache does not, keeps its pods, and is asked for every 40 s", async () => {
  const harness = new Harness();
  await harness.createPod("a", { node: "n", phase: "Running" });
  await harness.start();
  harness.intercept = (request) => (request === "GET nodes/n" ? 200 : undefined);
  await harness.advance(80);
  expect(harness.sent()).toEqual(["GET nodes/n", "GET nodes/n"]);
  expect(await harness.podNames()).toEqual(["a"]);
  await harness.stop();
});

test("a node that comes back in time is not asked for", async () => {
  const harness = new Harness();
  await harness.createPod("a", { node: "n", phase: "Running" });
  await harness.start();
  await harness.advance(30);
  await harness.createNode("n");
  await harness.advance(100);
  expect(harness.sent()).toEqual([]);
  await harness.stop();
});

test("when the API server cannot answer for a node, its quarantine starts again", async () => {
  const harness = new Harness();
  await harness.createPod("a", { node: "n", phase: "Running" });
  await harness.start();
  harness.intercept = (request) => (request === "GET nodes/n" ? 500 : undefined);
  await harness.advance(40);
  harness.intercept = () => undefined;
  await harness.advance(39);
  expect(harness.sent()).toEqual(["GET nodes/n"]);
  await harness.advance(1);
  expect(harness.sent()).toEqual(["GET nodes/n", "PATCH pods/a/status", "DELETE pods/a"]);
  await harness.stop();
});

test("another pod of the same name is neither ended nor deleted", async () => {
  const harness = new Harness();
  await harness.createPod("a", { node: "n", phase: "Running" });
  await harness.start();
  harness.intercept = async (request) => {
    if (request !== "PATCH pods/a/status") return;
    harness.intercept = () => undefined;
    await harness.pods.delete("a", { namespace: "default", gracePeriodSeconds: 0 });
    await harness.pods.create({
      metadata: { name: "a", namespace: "default" },
      spec: { nodeName: "n", containers: [{ name: "c", image: "i" }] },
    });
  };
  await harness.advance(40);
  expect(harness.sent()).toEqual(["GET nodes/n", "PATCH pods/a/status"]);
  expect(harness.decisions[0]).toMatchObject({
    outcome: "failed",
    message: expect.stringContaining("field is immutable"),
  });
  expect(harness.counts).toEqual({ "error orphaned": 1, "total orphaned": 1 });
  expect((await harness.getPod("a"))?.status?.phase).toBe("Pending");
  await harness.stop();
});

test("a pod that takes the name of an ended one at the last moment is not deleted in its place", async () => {
  const harness = new Harness({ terminatedPodThreshold: 1 });
  for (const name of ["a", "b"]) {
    await harness.createPod(name, { phase: "Failed" });
    await harness.advance(1);
  }
  harness.intercept = async (request) => {
    if (request !== "DELETE pods/a") return;
    await harness.pods.delete("a", { namespace: "default", gracePeriodSeconds: 0 });
    await harness.pods.create({
      metadata: { name: "a", namespace: "default" },
      spec: { containers: [{ name: "c", image: "i" }] },
    });
  };
  await harness.start();
  expect(harness.decisions).toMatchObject([
    { name: "a", outcome: "failed", message: expect.stringContaining("the UID in the precondition") },
  ]);
  expect(harness.counts).toEqual({ "error terminated": 1, "total terminated": 1 });
  expect((await harness.getPod("a"))?.status?.phase).toBe("Pending");
  await harness.stop();
});

test("what fails, and what becomes of the pods of a missing node, is logged in upstream's words", async () => {
  const logged: unknown[] = [];
  const logger = {
    ...silentLogger,
    info: (_: object, text: string) => void logged.push(text),
    error: ({ err }: { readonly err?: unknown }, text: string) => void logged.push(text, err),
  };
  const harness = new Harness({ logger });
  await harness.createPod("a", { node: "n", phase: "Running" });
  await harness.start();
  logged.length = 0;
  harness.intercept = (request) => (request === "GET nodes/n" ? 500 : undefined);
  await harness.advance(40);
  expect(logged.splice(0)).toEqual(["Error while getting node", "made to fail"]);
  harness.intercept = (request) => (request === "PATCH pods/a/status" ? 500 : undefined);
  await harness.advance(60);
  expect(logged.splice(0)).toEqual([
    "PodGC is force deleting Pod",
    "Unhandled Error",
    `failed to patch status ${goQuote(JSON.stringify(harness.bodies[0]))} for pod "default"/"a": made to fail`,
  ]);
  expect(Object.keys((harness.bodies[0] as { readonly status: object }).status)).toEqual([
    "$setElementOrder/conditions",
    "conditions",
    "observedGeneration",
    "phase",
  ]);
  harness.intercept = () => undefined;
  await harness.advance(60);
  expect(logged).toEqual(["PodGC is force deleting Pod", "Forced deletion of orphaned Pod succeeded"]);
  await harness.stop();
});

test("a pod that cannot be marked Failed is not deleted", async () => {
  const harness = new Harness();
  await harness.createPod("a", { phase: "Pending", finalizers: ["example.com/hold"] });
  await harness.deletePod("a");
  harness.intercept = (request) => (request.startsWith("PATCH") ? 500 : undefined);
  await harness.start();
  expect(harness.sent()).toEqual(["PATCH pods/a/status"]);
  expect(harness.counts).toEqual({ "error unscheduled": 1, "total unscheduled": 1 });
  harness.intercept = () => undefined;
  await harness.advance(20);
  expect(harness.sent()).toEqual(["PATCH pods/a/status", "DELETE pods/a"]);
  await harness.stop();
});

test("a pod that was deleted meanwhile counts as an error", async () => {
  const harness = new Harness({ terminatedPodThreshold: 1 });
  await harness.createPod("a", { phase: "Failed" });
  await harness.createPod("b", { phase: "Failed" });
  harness.intercept = (request) => (request.startsWith("DELETE") ? 404 : undefined);
  await harness.start();
  expect(harness.counts).toEqual({ "error terminated": 1, "total terminated": 1 });
  await harness.stop();
});

test("a terminating pod that was never scheduled is marked Failed and deleted; others are kept", async () => {
  const harness = new Harness();
  await harness.createNode("n");
  await harness.createPod("a", { finalizers: ["example.com/hold"] });
  await harness.createPod("b");
  await harness.createPod("c", { node: "n", phase: "Running" });
  await harness.deletePod("a");
  await harness.deletePod("c");
  await harness.start();
  expect(harness.sent()).toEqual(["PATCH pods/a/status", "DELETE pods/a"]);
  expect((await harness.getPod("a"))?.status?.phase).toBe("Failed");
  expect(harness.counts).toEqual({ "total unscheduled": 1 });
  await harness.stop();
});

test("duplicate environment variables and ports do not hinder the status patch", async () => {
  const harness = new Harness();
  const env = [
    { name: "A", value: "1" },
    { name: "A", value: "2" },
  ];
  const ports = [{ containerPort: 80 }, { containerPort: 80 }];
  const spec = { containers: [{ name: "c", image: "i", env, ports }] };
  await harness.createPod("a", { node: "n", phase: "Running", spec, finalizers: ["example.com/hold"] });
  await harness.start();
  await harness.advance(40);
  const pod = await harness.getPod("a");
  expect(pod?.status?.phase).toBe("Failed");
  expect(pod?.spec?.containers[0]?.env).toEqual(env);
  await harness.stop();
});

test("a DisruptionTarget condition of another reason is replaced in its place and keeps its time", async () => {
  const harness = new Harness();
  const known = {
    type: "DisruptionTarget",
    status: "True",
    reason: "PreemptionByScheduler",
    message: "x",
    lastTransitionTime: "2026-03-02T09:00:00Z",
  };
  const ready = { type: "Ready", status: "True", lastTransitionTime: "2026-03-02T09:00:00Z" };
  const status = { conditions: [known, ready] };
  await harness.createPod("a", { node: "n", phase: "Running", status, finalizers: ["example.com/hold"] });
  await harness.start();
  await harness.advance(40);
  const conditions = (await harness.getPod("a"))?.status?.conditions;
  expect(conditions).toMatchObject([
    { ...ORPHAN_CONDITION, lastTransitionTime: "2026-03-02T09:00:00Z" },
    { type: "Ready" },
  ]);
  await harness.stop();
});

test("what comes between two passes is seen in the next", async () => {
  const harness = new Harness({ terminatedPodThreshold: 1 });
  await harness.start();
  await harness.advance(5);
  await harness.createPod("a", { phase: "Failed" });
  await harness.createPod("b", { phase: "Failed" });
  await harness.advance(14.999);
  expect(harness.sent()).toEqual([]);
  await harness.advance(0.001);
  expect(harness.sent()).toEqual(["DELETE pods/a"]);
  await harness.stop();
});

test("passes are 20 s apart, also after a rest in which nothing changed", async () => {
  const harness = new Harness({ terminatedPodThreshold: 1 });
  await harness.start();
  await harness.advance(1007);
  await harness.createPod("a", { phase: "Failed" });
  await harness.createPod("b", { phase: "Failed" });
  await harness.advance(12.999);
  expect(harness.sent()).toEqual([]);
  await harness.advance(0.001);
  expect(harness.sent()).toEqual(["DELETE pods/a"]);
  await harness.stop();
});

test("a change that leaves nothing to do brings on no pass", async () => {
  const harness = new Harness();
  await harness.createNode("n");
  await harness.createPod("a", { node: "n", phase: "Running" });
  await harness.start();
  const sleep = vi.spyOn(harness.clock, "sleep");
  await harness.createPod("b", { node: "n", phase: "Failed" });
  await harness.createPod("c", { phase: "Pending" });
  await harness.createNode("another");
  await harness.pods.delete("b", { namespace: "default", gracePeriodSeconds: 0 });
  await harness.advance(100);
  expect(sleep).not.toHaveBeenCalled();
  await harness.stop();
});

test("a node that goes, or one that goes out of service, is noticed in the pass in which it would be", async () => {
  const harness = new Harness();
  await harness.createNode("m");
  await harness.createNode("n", { ready: "False" });
  await harness.createPod("a", { node: "m", phase: "Running" });
  await harness.createPod("b", { node: "n", phase: "Running" });
  await harness.start();
  await harness.advance(105);
  await harness.nodes.delete("m");
  await harness.advance(54.999);
  expect(harness.sent()).toEqual([]);
  await harness.advance(0.001);
  expect(harness.sent()).toEqual(["GET nodes/m", "PATCH pods/a/status", "DELETE pods/a"]);
  await harness.advance(100);
  harness.sent();
  await harness.deletePod("b");
  await harness.advance(45);
  await harness.nodes.patch("n", {
    type: "merge",
    body: { spec: { taints: [{ key: "node.kubernetes.io/out-of-service", effect: "NoExecute" }] } },
  });
  await harness.advance(14.999);
  expect(harness.sent()).toEqual([]);
  await harness.advance(0.001);
  expect(harness.sent()).toEqual(["PATCH pods/b/status", "DELETE pods/b"]);
  await harness.stop();
});

test("an idle controller holds no timer, and one under way only background timers", async () => {
  const harness = new Harness();
  await harness.createPod("a", { node: "n", phase: "Running" });
  await harness.start();
  expect(harness.clock.pendingTimers).toBe(0);
  await harness.advance(200);
  expect(harness.clock.pendingTimers).toBe(0);
  await harness.stop();
});

test("period and quarantine can be shorter", async () => {
  const harness = new Harness({ periodMs: 1_000, quarantineMs: 3_000 });
  await harness.createPod("a", { node: "n", phase: "Running" });
  await harness.start();
  await harness.advance(2.999);
  expect(harness.sent()).toEqual([]);
  await harness.advance(1);
  expect(harness.sent()).toEqual(["GET nodes/n", "PATCH pods/a/status", "DELETE pods/a"]);
  await harness.stop();
});

test("it keeps the process alive, and a pass that never ends keeps it for 30 s and no longer", async () => {
  const logged: string[] = [];
  const harness = new Harness({
    terminatedPodThreshold: 1,
    logger: { ...silentLogger, error: (_fields, message) => logged.push(message) },
  });
  await harness.start();
  expect(harness.clock.keepAliveCount).toBeGreaterThan(2);
  harness.intercept = () => new Promise<never>(() => {});
  for (const name of ["a", "b"]) await harness.createPod(name, { phase: "Succeeded" });
  await harness.advance(25);
  expect(harness.sent()).toEqual(["DELETE pods/a"]);
  const message = "pod-garbage-collector-controller: a pass did not end within 30 s of the stop signal";
  const failure = harness.stop().catch((error: Error) => error.message);
  await harness.advance(30);
  expect(await failure).toBe(message);
  expect(logged).toEqual([message]);
  expect(harness.clock.keepAliveCount).toBe(0);
});
