import { type KubernetesObject, deepFreeze } from "@kubewright/api";
import { SimulatedClock, seededRandom } from "@kubewright/clock";
import type { ApiRequest } from "@kubewright/transport";
import * as fc from "fast-check";
import { expect, test } from "vitest";

import { create, updateStatus } from "../../../test/strategy-calls.js";
import { createApiServer } from "../../api-server.js";
import { podDisruptionBudgetStrategy } from "./pod-disruption-budget.js";

const budget = (spec: object): object => ({ metadata: { name: "b" }, spec });
const amount = fc.option(
  fc.oneof(
    fc.integer({ min: -2, max: 200 }),
    fc.integer({ min: 0, max: 150 }).map((percent) => `${percent}%`),
    fc.constantFrom("some", "5", "-1%"),
  ),
  { nil: undefined },
);
const isAmount = (given: number | string | undefined): boolean =>
  given === undefined ||
  (typeof given === "number" ? given >= 0 : /^[0-9]+%$/.test(given) && Number.parseInt(given, 10) <= 100);

test("a budget sets minAvailable or maxUnavailable, never both", () => {
  fc.assert(
    fc.property(amount, amount, (minAvailable, maxUnavailable) => {
      const { message } = create(podDisruptionBudgetStrategy, budget({ minAvailable, maxUnavailable }));
      const isOne = minAvailable === undefined || maxUnavailable === undefined;
      expect(message === "").toBe(isOne && isAmount(minAvailable) && isAmount(maxUnavailable));
    }),
  );
});

test("a budget's status counts are not negative, and its conditions are valid", () => {
  const count = fc.integer({ min: -1, max: 2 });
  const condition = fc.record({
    type: fc.constantFrom("Ready", "example.com/Fine", "bad type", ""),
    status: fc.constantFrom("True", "Unknown", "Maybe"),
    reason: fc.constantFrom("AllGood", "a:b", "-no", ""),
    message: fc.constant(""),
    lastTransitionTime: fc.constant("2026-01-01T00:00:00Z"),
  });
  const { object } = create(podDisruptionBudgetStrategy, budget({ minAvailable: 1 }));
  fc.assert(
    fc.property(count, count, condition, (disruptionsAllowed, expectedPods, given) => {
      const { message } = updateStatus(podDisruptionBudgetStrategy, object, (next) => {
        Object.assign(next.status!, { disruptionsAllowed, expectedPods, conditions: [given] });
      });
      const isFine =
        disruptionsAllowed >= 0 &&
        expectedPods >= 0 &&
        ["Ready", "example.com/Fine"].includes(given.type) &&
        given.status !== "Maybe" &&
        ["AllGood", "a:b"].includes(given.reason);
      expect(message === "").toBe(isFine);
    }),
  );
});

/** Creates a namespace with a budget and running pods that it selects. */
function cluster(): {
  readonly send: (
    method: ApiRequest["method"],
    path: string,
    body?: object,
    type?: string,
  ) => Promise<[number, KubernetesObject]>;
  readonly runPod: (name: string, ready: boolean) => Promise<void>;
  readonly evict: (name: string, dryRun?: boolean) => Promise<number>;
} {
  const server = createApiServer({ clock: new SimulatedClock("2026-01-01T00:00:00Z"), random: seededRandom(1) });
  const send = async (
    method: ApiRequest["method"],
    path: string,
    body?: object,
    type = "application/merge-patch+json",
  ) => {
    const headers = method === "PATCH" ? { "content-type": type } : {};
    const sent = body === undefined ? {} : { body: { type: "decoded" as const, value: deepFreeze(body) } };
    const response = await server.transport({ method, path, headers, ...sent });
    const answer = response.body.type === "decoded" ? response.body.value : undefined;
    return [response.status, answer as KubernetesObject] as [number, KubernetesObject];
  };
  return {
    send,
    async runPod(name, ready) {
      const metadata = { name, labels: { app: "x" } };
      const spec = { nodeName: "n", containers: [{ name: "c", image: "busybox" }] };
      await send("POST", "/api/v1/namespaces/default/pods", { apiVersion: "v1", kind: "Pod", metadata, spec });
      const conditions = [{ type: "Ready", status: ready ? "True" : "False" }];
      const status = { phase: "Running", conditions };
      await send("PATCH", `/api/v1/namespaces/default/pods/${name}/status`, { status });
    },
    async evict(name, dryRun = false) {
      const eviction = {
        apiVersion: "policy/v1",
        kind: "Eviction",
        metadata: { name },
        deleteOptions: dryRun ? { dryRun: ["All"] } : {},
      };
      return (await send("POST", `/api/v1/namespaces/default/pods/${name}/eviction`, eviction))[0];
    },
  };
}

const BUDGETS = "/apis/policy/v1/namespaces/default/poddisruptionbudgets";

test("a budget limits evictions of ready pods, and unready pods are evicted freely", async () => {
  const pods = fc.array(fc.boolean(), { minLength: 1, maxLength: 5 });
  await fc.assert(
    fc.asyncProperty(pods, fc.integer({ min: 0, max: 4 }), async (ready, disruptionsAllowed) => {
      const { send, runPod, evict } = cluster();
      await send("POST", BUDGETS, {
        apiVersion: "policy/v1",
        kind: "PodDisruptionBudget",
        ...budget({ selector: { matchLabels: { app: "x" } }, unhealthyPodEvictionPolicy: "AlwaysAllow" }),
      });
      const counts = { currentHealthy: 5, desiredHealthy: 1, expectedPods: 5, disruptionsAllowed };
      await send("PATCH", `${BUDGETS}/b/status`, { status: { observedGeneration: 1, ...counts } });
      for (const [index, isReady] of ready.entries()) await runPod(`p${index}`, isReady);
      let left = disruptionsAllowed;
      for (const [index, isReady] of ready.entries()) {
        const isAllowed = !isReady || left > 0;
        expect(await evict(`p${index}`, true)).toBe(isAllowed ? 201 : 429);
        expect(await evict(`p${index}`)).toBe(isAllowed ? 201 : 429);
        if (isAllowed && isReady) left--;
        // A terminating pod does not use the budget again.
        expect(await evict(`p${index}`)).toBe(isAllowed ? 201 : 429);
      }
      const [, stored] = await send("GET", `${BUDGETS}/b`);
      expect(stored).toMatchObject({ status: { disruptionsAllowed: left } });
    }),
    { numRuns: 30 },
  );
});

test("a budget without allowed disruptions has a False condition", async () => {
  const { send, runPod, evict } = cluster();
  await send("POST", BUDGETS, {
    apiVersion: "policy/v1",
    kind: "PodDisruptionBudget",
    ...budget({ selector: {}, minAvailable: 1 }),
  });
  const counts = { currentHealthy: 2, desiredHealthy: 1, expectedPods: 2, disruptionsAllowed: 1 };
  await send("PATCH", `${BUDGETS}/b/status`, { status: { observedGeneration: 1, ...counts } });
  await runPod("p", true);
  expect(await evict("p")).toBe(201);
  const [, stored] = await send("GET", `${BUDGETS}/b`);
  expect(stored).toMatchObject({
    status: {
      disruptedPods: { p: "2026-01-01T00:00:00Z" },
      conditions: [{ type: "DisruptionAllowed", status: "False", reason: "InsufficientPods", observedGeneration: 1 }],
    },
  });
});

test("a strategic merge replaces a budget's selector", async () => {
  const { send } = cluster();
  const selector = { matchLabels: { app: "x" } };
  await send("POST", BUDGETS, { apiVersion: "policy/v1", kind: "PodDisruptionBudget", ...budget({ selector }) });
  const patch = { spec: { selector: { matchLabels: { tier: "y" } } } };
  const [, patched] = await send("PATCH", `${BUDGETS}/b`, patch, "application/strategic-merge-patch+json");
  expect(patched).toMatchObject({ metadata: { generation: 2 }, spec: { selector: { matchLabels: { tier: "y" } } } });
  expect(patched).not.toHaveProperty("spec.selector.matchLabels.app");
});
