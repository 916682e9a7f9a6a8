import {
  type Pod,
  type PodSpec,
  events as eventResource,
  findCondition,
  mutableCopy,
  nodes,
  pods,
} from "@kubewright/api";
import { seededRandom } from "@kubewright/clock";
import type { ApiResponse } from "@kubewright/transport";
import { expect, test } from "vitest";

import { ControllerHarness } from "../../../controller/test/controller-harness.js";
import { FakeScheduler } from "./fake-scheduler.js";

/** A scheduler whose recorded events begin with the name of their pod. */
class World extends ControllerHarness {
  /** Delay of every watch event to the scheduler. */
  watchDelayMs = 0;
  override readonly sink: ControllerHarness["sink"] = {
    event: ({ metadata }, _definition, type, reason, message) =>
      void this.events.push(`${metadata.name}: ${type} ${reason} ${message}`),
  };
  override network: ControllerHarness["network"] = async (request, serve) => this.#delayed(await serve(request));

  constructor() {
    super({ start: "2026-01-01T00:00:00Z" });
  }

  async start(): Promise<void> {
    await this.runController((deps) => new FakeScheduler(deps));
    await this.advance(1);
    this.writes.length = 0;
  }

  #delayed(response: ApiResponse): ApiResponse {
    const { clock, watchDelayMs } = this;
    const { body } = response;
    if (body.type !== "events" || watchDelayMs === 0) return response;
    const late = async function* (): AsyncGenerator<unknown> {
      for await (const event of body.events) {
        await clock.sleep(watchDelayMs);
        yield event;
      }
    };
    return { ...response, body: { type: "events", events: late() } };
  }

  async node(name: string, { cpu = "1", capacity = "10", ready = true, unschedulable = false } = {}): Promise<void> {
    const created = await this.admin.resource(nodes).create({ metadata: { name }, spec: { unschedulable } });
    await this.admin.resource(nodes).updateStatus({
      ...created,
      status: {
        allocatable: { cpu, memory: "8Gi", pods: capacity },
        conditions: [{ type: "Ready", status: ready ? "True" : "False" }],
      },
    });
    await this.clock.settle();
  }

  async pod(name: string, cpu = "0", spec: Partial<PodSpec> = {}): Promise<void> {
    await this.admin.resource(pods).create({
      metadata: { namespace: "default", name },
      spec: { containers: [{ name: "main", image: "x", resources: { requests: { cpu } } }], ...spec },
    });
    await this.clock.settle();
  }

  async phase(name: string, phase: string): Promise<void> {
    await this.admin
      .resource(pods)
      .patch(name, { type: "merge", body: { status: { phase } } }, { namespace: "default", subresource: "status" });
    await this.clock.settle();
  }

  get(name: string): Promise<Pod> {
    return this.admin.resource(pods).get(name, { namespace: "default" }).then(mutableCopy);
  }

  async placement(): Promise<Record<string, string>> {
    const { items } = await this.admin.resource(pods).list({ namespace: "default" });
    return Object.fromEntries(items.map(({ metadata, spec }) => [metadata.name, spec?.nodeName ?? "-"]));
  }
}

test("pods are bound to the first node by name with room, in the order they came", async () => {
  const world = new World();
  await world.node("node-b", { cpu: "1" });
  await world.node("node-a", { cpu: "1" });
  await world.pod("p1", "600m");
  await world.start();
  await world.pod("p2", "600m");
  await world.pod("p3", "400m");
  expect(await world.placement()).toEqual({ p1: "node-a", p2: "node-b", p3: "node-a" });
  expect(world.events).toEqual([
    "p1: Normal Scheduled Successfully assigned default/p1 to node-a",
    "p2: Normal Scheduled Successfully assigned default/p2 to node-b",
    "p3: Normal Scheduled Successfully assigned default/p3 to node-a",
  ]);
  expect(findCondition((await world.get("p1")).status?.conditions, "PodScheduled")?.status).toBe("True");
});

test("an unschedulable pod is reported once, and bound when a node gets room", async () => {
  const world = new World();
  await world.node("node-a", { cpu: "1" });
  await world.pod("p1", "800m");
  await world.start();
  await world.pod("p2", "800m");
  await world.clock.advance(600_000);
  expect(world.writes).toEqual(["PATCH pods/p2/status"]);
  expect(findCondition((await world.get("p2")).status?.conditions, "PodScheduled")).toMatchObject({
    status: "False",
    reason: "Unschedulable",
    message: "0/1 nodes are available: 1 Insufficient cpu.",
    lastTransitionTime: "2026-01-01T00:00:01Z",
  });
  expect(world.events.at(-1)).toBe("p2: Warning FailedScheduling 0/1 nodes are available: 1 Insufficient cpu.");
  await world.phase("p1", "Succeeded");
  expect(await world.placement()).toEqual({ p1: "node-a", p2: "node-a" });
});

test("without nodes pods wait; the first node takes as many as fit, the longest waiting first", async () => {
  const world = new World();
  await world.start();
  for (const name of ["p3", "p1", "p2"]) await world.pod(name, "500m");
  expect(world.events[0]).toBe("p3: Warning FailedScheduling no nodes available to schedule pods");
  await world.node("node-a", { cpu: "1" });
  expect(await world.placement()).toEqual({ p3: "node-a", p1: "node-a", p2: "-" });
});

test("a change that does not concern scheduling does not cost a waiting pod its place", async () => {
  const world = new World();
  await world.start();
  await world.pod("p1", "1");
  await world.pod("p2", "1");
  await world.admin
    .resource(pods)
    .patch("p1", { type: "merge", body: { metadata: { labels: { x: "y" } } } }, { namespace: "default" });
  await world.clock.settle();
  await world.node("node-a", { cpu: "1" });
  expect(await world.placement()).toEqual({ p1: "node-a", p2: "-" });
});

test("a small pod does not wait behind a large one that does not fit", async () => {
  const world = new World();
  await world.node("node-a", { cpu: "1" });
  await world.pod("running", "900m");
  await world.start();
  await world.pod("large", "2");
  await world.pod("small", "500m");
  await world.phase("running", "Failed");
  expect(await world.placement()).toEqual({ running: "node-a", large: "-", small: "node-a" });
});

test("a deleted pod makes room, and a deleted waiting pod does not stand in the way", async () => {
  const world = new World();
  await world.node("node-a", { cpu: "1" });
  await world.start();
  await world.pod("p1", "1");
  await world.pod("p2", "1");
  await world.pod("p3", "1");
  await world.admin.resource(pods).delete("p2", { namespace: "default", gracePeriodSeconds: 0 });
  await world.admin.resource(pods).delete("p1", { namespace: "default", gracePeriodSeconds: 0 });
  await world.clock.settle();
  expect(await world.placement()).toEqual({ p3: "node-a" });
});

test("pods with gates, another scheduler or a node already are left alone; a lifted gate lets the pod go", async () => {
  const world = new World();
  await world.node("node-a");
  await world.start();
  await world.pod("gated", "0", { schedulingGates: [{ name: "example.com/wait" }] });
  await world.pod("foreign", "0", { schedulerName: "other" });
  await world.pod("placed", "0", { nodeName: "node-z" });
  expect(await world.placement()).toEqual({ gated: "-", foreign: "-", placed: "node-z" });
  expect(world.writes).toEqual([]);
  await world.admin
    .resource(pods)
    .patch("gated", { type: "merge", body: { spec: { schedulingGates: null } } }, { namespace: "default" });
  await world.clock.settle();
  expect((await world.get("gated")).spec?.nodeName).toBe("node-a");
});

test("nodes that are not ready or unschedulable are used once they are", async () => {
  const world = new World();
  await world.node("node-a", { ready: false });
  await world.node("node-b", { unschedulable: true });
  await world.start();
  await world.pod("p1");
  expect(world.events).toEqual([
    "p1: Warning FailedScheduling 0/2 nodes are available: 1 node(s) were not ready, 1 node(s) were unschedulable.",
  ]);
  await world.admin.resource(nodes).patch("node-b", { type: "merge", body: { spec: { unschedulable: false } } });
  await world.clock.settle();
  expect(await world.placement()).toEqual({ p1: "node-b" });
});

test("a binding that fails gives the room back and is tried again after a second", async () => {
  const world = new World();
  await world.node("node-a", { cpu: "1" });
  await world.start();
  world.refuse(/^POST pods\/p1\/binding/, { code: 500, reason: "InternalError" });
  await world.pod("p1", "1");
  await world.pod("p2", "1");
  expect(await world.placement()).toEqual({ p1: "-", p2: "node-a" });
  await world.admin.resource(pods).delete("p2", { namespace: "default", gracePeriodSeconds: 0 });
  await world.clock.advance(1_000);
  expect(await world.placement()).toEqual({ p1: "node-a" });
});

test("what was bound counts before the cache shows it: neither is the room given away twice nor the pod bound twice", async () => {
  const world = new World();
  world.watchDelayMs = 100;
  await world.node("node-a", { cpu: "1" });
  await world.node("node-b", { cpu: "1" });
  await world.start();
  await world.pod("p1", "600m");
  await world.pod("p2", "600m");
  await world.admin
    .resource(pods)
    .patch("p1", { type: "merge", body: { metadata: { labels: { x: "y" } } } }, { namespace: "default" });
  await world.clock.advance(60_000);
  expect(await world.placement()).toEqual({ p1: "node-a", p2: "node-b" });
  expect(world.writes).toEqual(["POST pods/p1/binding", "POST pods/p2/binding"]);
});

test("a restarted scheduler does not report an unschedulable pod again", async () => {
  const world = new World();
  await world.start();
  await world.pod("p1");
  await world.stop();
  world.events.length = 0;
  await world.start();
  expect(world.events).toEqual([]);
  await world.node("node-a");
  expect(world.writes).toEqual(["POST pods/p1/binding"]);
});

test("a pod being deleted is not placed", async () => {
  const world = new World();
  await world.start();
  await world.admin.resource(pods).create({
    metadata: { namespace: "default", name: "p1", finalizers: ["example.com/wait"] },
    spec: { containers: [{ name: "main", image: "x" }] },
  });
  await world.admin.resource(pods).delete("p1", { namespace: "default" });
  await world.node("node-a");
  expect((await world.get("p1")).metadata.deletionTimestamp).toBeDefined();
  expect(world.writes).toEqual(["PATCH pods/p1/status"]);
  expect(await world.placement()).toEqual({ p1: "-" });
});

test("a hundred waiting pods of one kind cost one attempt each as room appears, not one each per finished pod", async () => {
  const world = new World();
  await world.node("node-a", { cpu: "1", capacity: "1000" });
  await world.start();
  for (let index = 0; index < 100; index++) await world.pod(`p${index}`, "1");
  world.writes.length = 0;
  for (let index = 0; index < 99; index++) await world.phase(`p${index}`, "Succeeded");
  expect(world.writes).toEqual(Array.from({ length: 99 }, (_, index) => `POST pods/p${index + 1}/binding`));
});

test("the same run twice sends the same requests, and stopping leaves nothing behind", async () => {
  const trace = async (): Promise<string[]> => {
    const world = new World();
    await world.node("node-a", { cpu: "1" });
    await world.start();
    for (let index = 0; index < 20; index++) await world.pod(`p${index}`, `${100 + 50 * (index % 4)}m`);
    for (let index = 0; index < 20; index += 3) await world.phase(`p${index}`, "Succeeded");
    await world.stop();
    await world.server.close();
    return [...world.writes, ...world.events];
  };
  expect(await trace()).toEqual(await trace());
});

test("without a sink of its user's, the scheduler writes Events itself, the last ones while it stops", async () => {
  const world = new World();
  await world.node("node-a");
  await world.pod("p1");
  const { admin: client, clock } = world;
  const stop = new AbortController();
  const done = new FakeScheduler({ client, clock, random: seededRandom(2) }).run(stop.signal);
  while ((await world.placement())["p1"] === "-") await clock.advance(100);
  stop.abort();
  await done;
  const { items } = await client.resource(eventResource).list({ namespace: "default" });
  expect(items).toMatchObject([
    {
      type: "Normal",
      reason: "Scheduled",
      message: "Successfully assigned default/p1 to node-a",
      source: { component: "default-scheduler" },
      involvedObject: { kind: "Pod", name: "p1" },
    },
  ]);
});
