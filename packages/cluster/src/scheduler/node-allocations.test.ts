import type { Node } from "@kubewright/api";
import { expect, test } from "vitest";

import { NodeAllocations } from "./node-allocations.js";
import type { Placement } from "./placement.js";
import type { PodRequests } from "./resources.js";

function node(name: string, { cpu = "1", pods = "10", ready = "True", unschedulable = false } = {}): Node {
  return {
    metadata: { name },
    spec: unschedulable ? { unschedulable } : {},
    status: { allocatable: { cpu, memory: "1Gi", pods }, conditions: [{ type: "Ready", status: ready }] },
  };
}

function cpu(milli: number): PodRequests {
  return { amounts: new Map([["cpu", milli]]), key: `cpu=${milli}` };
}

function allocationsOf(...nodes: Node[]): NodeAllocations {
  const allocations = new NodeAllocations();
  for (const each of nodes) allocations.setNode(each);
  return allocations;
}

test("the first node by name with room is taken, however the nodes arrived", () => {
  const allocations = allocationsOf(node("c"), node("a"), node("b"));
  const order: unknown[] = [];
  for (const uid of ["1", "2", "3"]) {
    const name = allocations.firstFit(cpu(600))!;
    order.push(name);
    allocations.reserve(uid, name, cpu(600));
  }
  expect(order).toEqual(["a", "b", "c"]);
  expect(allocations.firstFit(cpu(600))).toBeUndefined();
  expect(allocations.firstFit(cpu(400))).toBe("a");
  expect(allocations.release("2")).toBe("b");
  expect(allocations.firstFit(cpu(600))).toBe("b");
});

test("nodes that are not ready, unschedulable, full of pods, or without a resource are passed over", () => {
  const allocations = allocationsOf(
    node("a", { ready: "False" }),
    node("b", { unschedulable: true }),
    node("c", { pods: "0" }),
    node("d", { cpu: "100m" }),
  );
  expect(allocations.firstFit(cpu(200))).toBeUndefined();
  expect(allocations.explain(cpu(200))).toBe(
    "0/4 nodes are available: 1 Insufficient cpu, 1 Too many pods, 1 node(s) were not ready, 1 node(s) were unschedulable.",
  );
  expect(allocations.firstFit({ amounts: new Map([["example.com/gpu", 1]]), key: "gpu" })).toBeUndefined();
  expect(allocations.firstFit(cpu(100))).toBe("d");
});

test("without nodes the explanation says so", () => {
  expect(allocationsOf().explain(cpu(1))).toBe("no nodes available to schedule pods");
});

test("a node that gave away too much still takes pods that ask for nothing", () => {
  const allocations = allocationsOf(node("a"));
  allocations.reserve("1", "a", cpu(1000));
  allocations.setNode(node("a", { cpu: "500m" }));
  expect(allocations.firstFit(cpu(1))).toBeUndefined();
  expect(allocations.firstFit(cpu(0))).toBe("a");
});

test("pods reserved on a node that is unknown or deleted count once the node exists", () => {
  const allocations = allocationsOf();
  allocations.reserve("1", "a", cpu(800));
  allocations.setNode(node("a"));
  expect(allocations.firstFit(cpu(300))).toBeUndefined();
  allocations.removeNode("a");
  expect(allocations.size).toBe(0);
  expect(allocations.firstFit(cpu(1))).toBeUndefined();
  allocations.setNode(node("a"));
  expect(allocations.firstFit(cpu(300))).toBeUndefined();
  expect(allocations.firstFit(cpu(200))).toBe("a");
});

test("a pod is charged once, and releasing an unknown one changes nothing", () => {
  const allocations = allocationsOf(node("a"));
  allocations.reserve("1", "a", cpu(500));
  expect(() => allocations.reserve("1", "a", cpu(500))).toThrow("pod 1 is reserved on node a already");
  expect(allocations.nodeOf("1")).toBe("a");
  expect(allocations.release("2")).toBeUndefined();
  expect(allocations.release("1")).toBe("a");
  expect(allocations.release("1")).toBeUndefined();
  expect(allocations.firstFit(cpu(1000))).toBe("a");
});

test("taints keep away pods that do not tolerate them, and a node selector all other nodes", () => {
  const tainted: Node = { ...node("a"), spec: { taints: [{ key: "pool", value: "batch", effect: "NoSchedule" }] } };
  const labelled: Node = { ...node("b"), metadata: { name: "b", labels: { disk: "ssd" } } };
  const preferred: Node = { ...node("c"), spec: { taints: [{ key: "slow", effect: "PreferNoSchedule" }] } };
  const allocations = allocationsOf(tainted, labelled, preferred);
  const asking = (placement: Partial<Placement>): PodRequests => ({
    amounts: new Map(),
    placement: { nodeSelector: {}, tolerations: [], ...placement },
    key: JSON.stringify(placement),
  });
  expect(allocations.firstFit(cpu(1))).toBe("b");
  expect(allocations.firstFit(asking({ tolerations: [{ key: "pool", value: "batch" }] }))).toBe("a");
  expect(allocations.firstFit(asking({ tolerations: [{ key: "pool", value: "other" }] }))).toBe("b");
  expect(allocations.firstFit(asking({ tolerations: [{ operator: "Exists" }], nodeSelector: { disk: "ssd" } }))).toBe(
    "b",
  );
  const hdd = asking({ nodeSelector: { disk: "hdd" } });
  expect(allocations.firstFit(hdd)).toBeUndefined();
  expect(allocations.explain(hdd)).toBe(
    "0/3 nodes are available: 1 node(s) had untolerated taint {pool: batch}, 2 node(s) didn't match Pod's node affinity/selector.",
  );
});

test("required node affinity keeps pods to nodes that one of its terms takes", () => {
  const allocations = allocationsOf(
    { ...node("a"), metadata: { name: "a", labels: { zone: "one", cores: "8" } } },
    { ...node("b"), metadata: { name: "b", labels: { zone: "two", cores: "64" } } },
  );
  const requiring = (...terms: NonNullable<Placement["nodeAffinity"]>["nodeSelectorTerms"]): PodRequests => ({
    amounts: new Map(),
    placement: { nodeSelector: {}, tolerations: [], nodeAffinity: { nodeSelectorTerms: terms } },
    key: JSON.stringify(terms),
  });
  const expression = (key: string, operator: string, ...values: string[]): PodRequests =>
    requiring({ matchExpressions: [{ key, operator, values }] });
  expect(allocations.firstFit(expression("zone", "In", "two", "three"))).toBe("b");
  expect(allocations.firstFit(expression("zone", "NotIn", "one"))).toBe("b");
  expect(allocations.firstFit(expression("disk", "NotIn", "ssd"))).toBe("a");
  expect(allocations.firstFit(expression("zone", "Exists"))).toBe("a");
  expect(allocations.firstFit(expression("zone", "DoesNotExist"))).toBeUndefined();
  expect(allocations.firstFit(expression("cores", "Gt", "8"))).toBe("b");
  expect(allocations.firstFit(expression("cores", "Lt", "9"))).toBe("a");
  expect(allocations.firstFit(expression("zone", "Gt", "1"))).toBeUndefined();
  expect(
    allocations.firstFit(requiring({ matchFields: [{ key: "metadata.name", operator: "In", values: ["b"] }] })),
  ).toBe("b");
  // One term has to match; a term without requirements matches no node.
  expect(
    allocations.firstFit(requiring({}, { matchExpressions: [{ key: "zone", operator: "In", values: ["two"] }] })),
  ).toBe("b");
  expect(allocations.firstFit(requiring({}))).toBeUndefined();
  expect(allocations.explain(expression("zone", "In", "four"))).toBe(
    "0/2 nodes are available: 2 node(s) didn't match Pod's node affinity/selector.",
  );
});
