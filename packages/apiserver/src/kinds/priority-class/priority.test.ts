import type { KubernetesObject, Pod, PriorityClass, Status } from "@kubewright/api";
import { SimulatedClock, seededRandom } from "@kubewright/clock";
import * as fc from "fast-check";
import { expect, test } from "vitest";

import { create, update } from "../../../test/strategy-calls.js";
import { createApiServer } from "../../api-server.js";
import { priorityClassStrategy } from "./strategy.js";

const CLASSES = "/apis/scheduling.k8s.io/v1/priorityclasses";
const PODS = "/api/v1/namespaces/default/pods";

type Send = (method: "GET" | "POST" | "PUT" | "DELETE", path: string, value?: object) => Promise<Pod & Status>;

function serve(createDefaultObjects: boolean): Send {
  const clock = new SimulatedClock("2026-01-01T00:00:00Z");
  const server = createApiServer({ clock, random: seededRandom(1), freeze: true, createDefaultObjects });
  return async (method, path, value) => {
    const body = value === undefined ? {} : { body: { type: "decoded", value } as const };
    const { body: answer } = await server.transport({ method, path, headers: {}, ...body });
    return (answer as { value: Pod & Status }).value;
  };
}

function priorityClass(name: string, more: Partial<PriorityClass> = {}): KubernetesObject {
  return {
    apiVersion: "scheduling.k8s.io/v1",
    kind: "PriorityClass",
    metadata: { name },
    value: 1000,
    ...more,
  };
}

function pod(spec: object = {}, name = "p"): object {
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name },
    spec: { containers: [{ name: "c", image: "i" }], ...spec },
  };
}

test("user classes have priorities up to a billion and no system- prefix", () => {
  const value = fc.oneof(fc.integer({ min: -5, max: 5 }), fc.constantFrom(1e9, 1e9 + 1, 2e9, 2000001000));
  const name = fc.constantFrom("a", "system", "system-x", "system-node-critical", "system-cluster-critical");
  fc.assert(
    fc.property(name, value, fc.boolean(), (named, given, globalDefault) => {
      const { message } = create(priorityClassStrategy, priorityClass(named, { value: given, globalDefault }));
      const known = new Map([
        ["system-node-critical", 2000001000],
        ["system-cluster-critical", 2e9],
      ]).get(named);
      const fine = named.startsWith("system-") ? known === given && !globalDefault : given <= 1e9;
      expect(message === "").toBe(fine);
    }),
  );
});

test("value and preemptionPolicy of a class are immutable", () => {
  const { object } = create(priorityClassStrategy, priorityClass("a"));
  expect(update(priorityClassStrategy, object, (next) => (next.value = 5)).message).toBe(
    "value: Forbidden: may not be changed in an update.",
  );
  expect(update(priorityClassStrategy, object, (next) => (next.preemptionPolicy = "Never")).message).toBe(
    'preemptionPolicy: Invalid value: "Never": field is immutable',
  );
  expect(update(priorityClassStrategy, object, (next) => (next.globalDefault = true)).message).toBe("");
});

test("a pod gets the priority of its class, of the default class, or 0, and a client may set only that value", async () => {
  const send = serve(true);
  await send("POST", CLASSES, priorityClass("high"));
  const given = { priorityClassName: "high" };
  expect((await send("POST", PODS, pod(given, "a"))).spec).toMatchObject({
    priority: 1000,
    preemptionPolicy: "PreemptLowerPriority",
  });
  expect((await send("POST", PODS, pod({}, "b"))).spec).toMatchObject({ priority: 0 });
  expect((await send("POST", PODS, pod({ ...given, priority: 3 }, "c"))).message).toBe(
    'pods "c" is forbidden: the integer value of priority (3) must not be provided in pod spec; priority admission controller computed 1000 from the given PriorityClass name',
  );
  expect((await send("POST", PODS, pod({ priorityClassName: "nope" }, "c"))).message).toBe(
    'pods "c" is forbidden: no PriorityClass with name nope was found',
  );
  await send("POST", CLASSES, priorityClass("usual", { value: 7, globalDefault: true }));
  expect((await send("POST", PODS, pod({}, "d"))).spec).toMatchObject({ priority: 7, priorityClassName: "usual" });
  expect((await send("POST", CLASSES, priorityClass("other", { globalDefault: true }))).message).toMatch(
    "PriorityClass usual is already marked as default. Only one default can exist",
  );
  expect((await send("DELETE", `${CLASSES}/system-node-critical`)).message).toMatch(
    "this is a system priority class and cannot be deleted",
  );
});

test("a pod update that omits the priority keeps it", async () => {
  const send = serve(true);
  const { spec, metadata } = await send("POST", PODS, pod());
  const { priority: _priority, preemptionPolicy: _policy, tolerations, ...known } = spec!;
  const replaced = await send("PUT", `${PODS}/p`, { metadata, spec: { ...known, tolerations } });
  expect(replaced.spec).toEqual(spec);
});

test("with default objects, pods get tolerations of five minutes for unhealthy nodes", async () => {
  const send = serve(true);
  const keys = async (name: string, tolerations: object[]): Promise<unknown[]> =>
    (await send("POST", PODS, pod({ tolerations }, name))).spec!.tolerations!.map(({ key }) => key);
  const notReady = "node.kubernetes.io/not-ready";
  const unreachable = "node.kubernetes.io/unreachable";
  expect(await keys("a", [])).toEqual([notReady, unreachable]);
  expect(await keys("b", [{ key: notReady, operator: "Exists", effect: "NoSchedule" }])).toEqual([
    notReady,
    notReady,
    unreachable,
  ]);
  expect(await keys("c", [{ key: notReady, operator: "Exists" }])).toEqual([notReady, unreachable]);
  expect(await keys("d", [{ operator: "Exists" }])).toEqual([undefined]);
});

test("a server without default objects and without classes admits pods unchanged", async () => {
  const send = serve(false);
  const { spec } = await send("POST", PODS, pod({ priorityClassName: "theirs" }));
  expect(spec).not.toHaveProperty("priority");
  expect(spec).not.toHaveProperty("tolerations");
  await send("POST", CLASSES, priorityClass("mine"));
  expect((await send("POST", PODS, pod({ priorityClassName: "theirs" }, "q"))).code).toBe(403);
  expect((await send("POST", PODS, pod({}, "r"))).spec).toMatchObject({ priority: 0 });
});
