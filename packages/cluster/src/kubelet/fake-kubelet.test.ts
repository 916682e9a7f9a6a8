import { expect, test } from "vitest";

import { type DeepReadonly, type Pod, findCondition, nodes, pods } from "@kubewright/api";

import { ControllerHarness } from "../../../controller/test/controller-harness.js";
import { FakeKubelet, type FakeKubeletOptions } from "./fake-kubelet.js";

const START = "2026-01-01T00:00:00Z";
const NAMESPACE = "default";

/** A kubelet whose writes are recorded with their times, e.g. `2 PATCH pods/p/status`. */
class Harness extends ControllerHarness {
  readonly pods = this.admin.resource(pods);
  readonly nodes = this.admin.resource(nodes);

  constructor() {
    super({ start: START, timed: true });
  }

  start(options: Partial<FakeKubeletOptions> = {}): Promise<void> {
    return this.runController((deps) => new FakeKubelet({ ...deps, random: deps.random.fork("kubelet"), ...options }));
  }

  async create(
    annotations: Record<string, string> = {},
    spec: Partial<Pod["spec"]> = {},
    metadata: Pod["metadata"] = {},
  ): Promise<void> {
    const prefixed = Object.entries(annotations).map(([name, value]) => [`sim.kubewright.dev/${name}`, value] as const);
    await this.pods.create({
      metadata: { name: "p", namespace: NAMESPACE, ...metadata, annotations: Object.fromEntries(prefixed) },
      spec: { containers: [{ name: "c", image: "i" }], restartPolicy: "Never", nodeName: "node-1", ...spec },
    });
    await this.clock.settle();
  }

  get(): Promise<DeepReadonly<Pod>> {
    return this.pods.get("p", { namespace: NAMESPACE });
  }

  async exists(): Promise<boolean> {
    return (await this.pods.list({ namespace: NAMESPACE })).items.length > 0;
  }

  async conditions(): Promise<Record<string, string>> {
    const conditions = (await this.get()).status?.conditions ?? [];
    return Object.fromEntries(
      conditions.map(({ type, status, reason }) => [type, reason === undefined ? status : `${status} ${reason}`]),
    );
  }
}

test("a pod is accepted, runs and succeeds, with one write for each", async () => {
  const harness = new Harness();
  await harness.start();
  await harness.create({ duration: "90s", "startup-delay": "2s" });
  const accepted = (await harness.get()).status;
  expect(accepted).toMatchObject({ phase: "Pending", startTime: START, observedGeneration: 1 });
  expect(accepted?.hostIP).toBe(accepted?.hostIPs?.[0]?.ip);
  expect(accepted?.containerStatuses).toMatchObject([
    {
      name: "c",
      image: "i",
      imageID: "",
      ready: false,
      started: false,
      restartCount: 0,
      state: { waiting: { reason: "ContainerCreating" } },
    },
  ]);
  expect(await harness.conditions()).toEqual({
    PodScheduled: "True",
    Initialized: "True",
    PodReadyToStartContainers: "False",
    Ready: "False ContainersNotReady",
    ContainersReady: "False ContainersNotReady",
  });
  expect(findCondition(accepted?.conditions, "Ready")).toMatchObject({
    message: "containers with unready status: [c]",
    lastTransitionTime: START,
    observedGeneration: 1,
  });

  await harness.clock.advance(2000);
  const running = (await harness.get()).status;
  expect(running).toMatchObject({ phase: "Running" });
  expect(running?.podIP).toBe(running?.podIPs?.[0]?.ip);
  expect(running?.containerStatuses).toMatchObject([
    { ready: true, started: true, state: { running: { startedAt: "2026-01-01T00:00:02Z" } } },
  ]);
  expect(await harness.conditions()).toEqual({
    PodScheduled: "True",
    Initialized: "True",
    PodReadyToStartContainers: "True",
    Ready: "True",
    ContainersReady: "True",
  });
  expect(findCondition(running?.conditions, "Initialized")?.lastTransitionTime).toBe(START);
  expect(findCondition(running?.conditions, "Ready")).not.toHaveProperty("message");

  await harness.clock.advance(90_000);
  const succeeded = (await harness.get()).status;
  expect(succeeded).toMatchObject({ phase: "Succeeded" });
  expect(succeeded?.containerStatuses).toMatchObject([
    {
      ready: false,
      started: false,
      state: {
        terminated: {
          exitCode: 0,
          reason: "Completed",
          startedAt: "2026-01-01T00:00:02Z",
          finishedAt: "2026-01-01T00:01:32Z",
        },
      },
    },
  ]);
  expect(await harness.conditions()).toEqual({
    PodScheduled: "True",
    Initialized: "True PodCompleted",
    PodReadyToStartContainers: "False",
    Ready: "False PodCompleted",
    ContainersReady: "False PodCompleted",
  });
  expect(harness.writes).toEqual(["0 PATCH pods/p/status", "2 PATCH pods/p/status", "92 PATCH pods/p/status"]);
  expect(harness.clock.pendingTimers).toBe(0);
  await harness.stop();
});

test("a pod that takes no time at all still goes through every phase, once", async () => {
  const harness = new Harness();
  await harness.start();
  await harness.create({ duration: "0", "startup-delay": "0" });
  expect((await harness.get()).status?.phase).toBe("Succeeded");
  await harness.clock.advance(60_000);
  expect(harness.writes).toEqual(["0 PATCH pods/p/status", "0 PATCH pods/p/status", "0 PATCH pods/p/status"]);
  await harness.stop();
});

test("a pod that fails and is not restarted is Failed with its exit code", async () => {
  const harness = new Harness();
  await harness.start();
  await harness.create({ "failure-rate": "1", "failure-exit-code": "42" });
  await harness.clock.advance(11_000);
  const { status } = await harness.get();
  expect(status?.phase).toBe("Failed");
  expect(status?.containerStatuses?.[0]?.state?.terminated).toMatchObject({ exitCode: 42, reason: "Error" });
  expect((await harness.conditions())["Ready"]).toBe("False PodFailed");
  await harness.stop();
});

test("a crashing container restarts at once, then after 10 and 20 seconds, and counts its restarts", async () => {
  const harness = new Harness();
  await harness.start();
  await harness.create({ duration: "5s", "exit-code": "3" }, { restartPolicy: "OnFailure" });
  const container = async () => (await harness.get()).status?.containerStatuses?.[0];
  await harness.clock.advance(6000);
  expect(await container()).toMatchObject({
    restartCount: 1,
    ready: true,
    state: { running: { startedAt: "2026-01-01T00:00:06Z" } },
    lastState: {
      terminated: {
        exitCode: 3,
        reason: "Error",
        startedAt: "2026-01-01T00:00:01Z",
        finishedAt: "2026-01-01T00:00:06Z",
      },
    },
  });
  await harness.clock.advance(5000);
  expect(await container()).toMatchObject({
    restartCount: 1,
    ready: false,
    state: { waiting: { reason: "CrashLoopBackOff" } },
  });
  expect((await container())?.state?.waiting?.message).toMatch(
    /^back-off 10s restarting failed container=c pod=p_default\(/,
  );
  expect((await harness.get()).status?.phase).toBe("Running");
  expect((await harness.conditions())["Ready"]).toBe("False ContainersNotReady");
  await harness.clock.advance(10_000);
  expect(await container()).toMatchObject({
    restartCount: 2,
    state: { running: { startedAt: "2026-01-01T00:00:21Z" } },
  });
  await harness.clock.advance(25_000);
  expect(await container()).toMatchObject({
    restartCount: 3,
    state: { running: { startedAt: "2026-01-01T00:00:46Z" } },
  });
  expect(harness.writes.slice(-4)).toEqual([
    "11 PATCH pods/p/status",
    "21 PATCH pods/p/status",
    "26 PATCH pods/p/status",
    "46 PATCH pods/p/status",
  ]);
  await harness.stop();
});

test("a pod that outlives its deadline is Failed for it", async () => {
  const harness = new Harness();
  await harness.start();
  await harness.create({ duration: "1h" }, { activeDeadlineSeconds: 30 });
  await harness.clock.advance(30_000);
  expect((await harness.get()).status).toMatchObject({
    phase: "Failed",
    reason: "DeadlineExceeded",
    message: "Pod was active on the node longer than the specified deadline",
    containerStatuses: [{ state: { terminated: { exitCode: 137 } } }],
  });
  expect(harness.clock.pendingTimers).toBe(0);
  await harness.stop();
});

test("a running pod that is deleted fails within its grace period, and is then removed", async () => {
  const harness = new Harness();
  await harness.start();
  const phases: unknown[] = [];
  const stop = new AbortController();
  await harness.create({ duration: "1h" });
  await harness.clock.advance(10_000);
  const watch = await harness.pods.watch({
    namespace: NAMESPACE,
    signal: stop.signal,
    resourceVersion: (await harness.get()).metadata.resourceVersion,
  });
  const watching = (async () => {
    for await (const { type, object } of watch) {
      const pod = object as DeepReadonly<Pod>;
      phases.push([
        type,
        pod.status?.phase,
        pod.status?.containerStatuses?.[0]?.state?.terminated?.exitCode,
        pod.metadata.deletionGracePeriodSeconds,
      ]);
    }
  })();
  await harness.pods.delete("p", { namespace: NAMESPACE });
  await harness.clock.advance(999);
  expect(await harness.exists()).toBe(true);
  await harness.clock.advance(1);
  expect(await harness.exists()).toBe(false);
  expect(harness.writes.slice(2)).toEqual(["11 PATCH pods/p/status", "11 DELETE pods/p"]);
  expect(phases).toEqual([
    ["MODIFIED", "Running", undefined, 30],
    ["MODIFIED", "Failed", 143, 30],
    ["MODIFIED", "Failed", 143, 0],
    ["DELETED", "Failed", 143, 0],
  ]);
  expect(harness.clock.pendingTimers).toBe(0);
  stop.abort();
  await watching.catch(() => undefined);
  await harness.stop();
});

test("a pod that ignores SIGTERM runs until its grace is over", async () => {
  const harness = new Harness();
  await harness.start();
  await harness.create(
    { duration: "1h", "ignore-sigterm": "true" },
    { terminationGracePeriodSeconds: 20 },
    { finalizers: ["test/keep"] },
  );
  await harness.clock.advance(10_000);
  await harness.pods.delete("p", { namespace: NAMESPACE });
  await harness.clock.advance(19_999);
  expect((await harness.get()).status?.phase).toBe("Running");
  await harness.clock.advance(1);
  expect((await harness.get()).status).toMatchObject({
    phase: "Failed",
    containerStatuses: [{ state: { terminated: { exitCode: 137 } } }],
  });
  expect((await harness.get()).metadata.deletionGracePeriodSeconds).toBe(0);
  await harness.pods.patch("p", { type: "merge", body: { metadata: { finalizers: null } } }, { namespace: NAMESPACE });
  expect(await harness.exists()).toBe(false);
  await harness.stop();
});

test("a pod that ends by itself while it is being deleted keeps its own result", async () => {
  const harness = new Harness();
  await harness.start();
  await harness.create({ duration: "10s" }, {}, { finalizers: ["test/keep"] });
  await harness.clock.advance(10_500);
  await harness.pods.delete("p", { namespace: NAMESPACE });
  await harness.clock.advance(60_000);
  expect((await harness.get()).status?.phase).toBe("Succeeded");
  expect((await harness.get()).metadata.deletionGracePeriodSeconds).toBe(0);
  await harness.stop();
});

test("a pod deleted before its containers started fails at once and is removed", async () => {
  const harness = new Harness();
  await harness.start();
  await harness.create({ "startup-delay": "1h" }, {}, { finalizers: ["test/keep"] });
  await harness.pods.delete("p", { namespace: NAMESPACE });
  await harness.clock.settle();
  expect((await harness.get()).status).toMatchObject({
    phase: "Failed",
    containerStatuses: [{ state: { terminated: { exitCode: 137, reason: "ContainerStatusUnknown" } } }],
  });
  expect((await harness.get()).metadata.deletionGracePeriodSeconds).toBe(0);
  expect(harness.clock.pendingTimers).toBe(0);
  await harness.stop();
});

test("a pod that another client fails is forgotten", async () => {
  const harness = new Harness();
  await harness.start();
  await harness.create({ duration: "1h" });
  await harness.clock.advance(10_000);
  await harness.pods.patch(
    "p",
    { type: "merge", body: { status: { phase: "Failed" } } },
    { namespace: NAMESPACE, subresource: "status" },
  );
  await harness.clock.settle();
  expect(harness.clock.pendingTimers).toBe(0);
  await harness.clock.advance(3_600_000);
  expect(harness.writes).toEqual(["0 PATCH pods/p/status", "1 PATCH pods/p/status"]);
  await harness.stop();
});

test("a pod of the same name is another pod", async () => {
  const harness = new Harness();
  await harness.start();
  await harness.create({ duration: "10s" });
  await harness.clock.advance(5000);
  await harness.pods.delete("p", { namespace: NAMESPACE, gracePeriodSeconds: 0 });
  await harness.create({ duration: "20s" });
  await harness.clock.advance(20_999);
  expect((await harness.get()).status?.phase).toBe("Running");
  await harness.clock.advance(1);
  expect((await harness.get()).status?.phase).toBe("Succeeded");
  await harness.stop();
});

test("a restarted kubelet continues where the previous one was stopped", async () => {
  const harness = new Harness();
  await harness.start();
  await harness.create({ duration: "60s" });
  await harness.clock.advance(20_000);
  await harness.stop();
  expect(harness.clock.pendingTimers).toBe(0);
  await harness.clock.advance(10_000);
  await harness.start();
  await harness.clock.advance(30_999);
  expect((await harness.get()).status?.phase).toBe("Running");
  await harness.clock.advance(1);
  expect((await harness.get()).status?.phase).toBe("Succeeded");
  await harness.stop();
});

test("init containers are done when the others start", async () => {
  const harness = new Harness();
  await harness.start();
  await harness.create({}, { initContainers: [{ name: "i", image: "i" }] });
  expect((await harness.get()).status).toMatchObject({
    initContainerStatuses: [{ name: "i", state: { waiting: { reason: "PodInitializing" } } }],
    containerStatuses: [{ name: "c", state: { waiting: { reason: "PodInitializing" } } }],
  });
  expect((await harness.conditions())["Initialized"]).toBe("False ContainersNotInitialized");
  await harness.clock.advance(1000);
  expect((await harness.get()).status?.initContainerStatuses).toMatchObject([
    { state: { terminated: { exitCode: 0, reason: "Completed" } } },
  ]);
  expect((await harness.conditions())["Initialized"]).toBe("True");
  await harness.stop();
});

test("a workload that cannot be read is reported on the pod, which runs by the default", async () => {
  const harness = new Harness();
  await harness.start();
  await harness.create({ duration: "soon" });
  expect(harness.events).toEqual([
    'Warning InvalidWorkload annotation sim.kubewright.dev/duration is "soon": write a duration such as 30s, 5m, 1h30m or 250ms, a range such as 20m..70m, or a distribution such as normal(10m, 2m); the default, 10s, is used',
  ]);
  await harness.clock.advance(11_000);
  expect((await harness.get()).status?.phase).toBe("Succeeded");
  expect(harness.events.length).toBe(1);
  await harness.stop();
});

test("pods of other nodes, and pods not yet bound, are left alone", async () => {
  const harness = new Harness();
  await harness.start({ nodes: ["node-2"] });
  await harness.create();
  await harness.create({}, { nodeName: "" }, { name: "unbound" });
  await harness.clock.advance(60_000);
  expect(harness.writes).toEqual([]);
  await harness.stop();
});

test("a node is made Ready once, and one that was taken down stays down", async () => {
  const harness = new Harness();
  await harness.nodes.create({
    metadata: { name: "down" },
    status: { conditions: [{ type: "Ready", status: "False" }] },
  });
  await harness.start();
  await harness.nodes.create({ metadata: { name: "node-1" } });
  await harness.clock.settle();
  const { status } = await harness.nodes.get("node-1");
  expect(status?.conditions).toMatchObject([{ type: "Ready", status: "True", reason: "KubeletReady" }]);
  expect(status?.addresses?.map(({ type }) => type)).toEqual(["InternalIP", "Hostname"]);
  expect((await harness.nodes.get("down")).status?.conditions).toMatchObject([{ type: "Ready", status: "False" }]);
  await harness.create();
  expect((await harness.get()).status?.hostIP).toBe(status?.addresses?.[0]?.address);
  expect(harness.clock.pendingTimers).toBe(1);
  await harness.stop();
});

test("containers of one pod may end at different times with different codes; the pod ends with the last, and fails with any", async () => {
  const harness = new Harness();
  await harness.start();
  const rules = JSON.stringify([{ container: "quick", duration: "5s", exitCode: "3" }]);
  const containers = ["main", "quick"].map((name) => ({ name, image: "i" }));
  await harness.create({ duration: "1m", rules }, { containers });
  await harness.clock.advance(60_999);
  expect((await harness.get()).status?.phase).toBe("Running");
  await harness.clock.advance(1);
  const { status } = await harness.get();
  expect(status?.phase).toBe("Failed");
  expect(status?.containerStatuses?.map(({ name, state }) => [name, state?.terminated])).toMatchObject([
    ["main", { exitCode: 0, reason: "Completed", finishedAt: "2026-01-01T00:01:01Z" }],
    ["quick", { exitCode: 3, reason: "Error", finishedAt: "2026-01-01T00:00:06Z" }],
  ]);
  await harness.stop();
});

test("a container that had ended keeps its own end when the pod is stopped", async () => {
  const harness = new Harness();
  await harness.start();
  const rules = JSON.stringify([{ container: "quick", duration: "5s" }]);
  const containers = ["main", "quick"].map((name) => ({ name, image: "i" }));
  await harness.create({ duration: "1h", rules }, { containers, activeDeadlineSeconds: 60 });
  await harness.clock.advance(70_000);
  const { status } = await harness.get();
  expect(status).toMatchObject({ phase: "Failed", reason: "DeadlineExceeded" });
  expect(status?.containerStatuses?.map(({ state }) => state?.terminated?.exitCode)).toEqual([137, 0]);
  await harness.stop();
});
