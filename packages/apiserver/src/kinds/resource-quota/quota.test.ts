import type { KubernetesObject, Pod, ResourceQuota } from "@kubewright/api";
import { SimulatedClock, seededRandom } from "@kubewright/clock";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";

import { create, update } from "../../../test/strategy-calls.js";
import { createApiServer } from "../../api-server.js";
import { resourceQuotaStrategy } from "./strategy.js";

type Answer = KubernetesObject & { readonly code?: number; readonly message?: string; readonly status?: unknown };

const ROOT = "/api/v1/namespaces/default";

interface World {
  readonly clock: SimulatedClock;
  readonly send: (
    method: "GET" | "POST" | "PUT" | "DELETE",
    path: string,
    value?: object,
    query?: string,
  ) => Promise<Answer>;
  readonly used: () => Promise<Record<string, string>>;
}

function serve(managed: boolean): World {
  const clock = new SimulatedClock("2026-01-01T00:00:00Z");
  const server = createApiServer({ clock, random: seededRandom(1), freeze: true, managed });
  const send: World["send"] = async (method, path, value, query = "") => {
    const body = value === undefined ? {} : { body: { type: "decoded", value } as const };
    const answer = await server.transport({ method, path: `${ROOT}/${path}${query}`, headers: {}, ...body });
    return (answer.body as { value: Answer }).value;
  };
  const used = async (): Promise<Record<string, string>> =>
    ((await send("GET", "resourcequotas/q")) as ResourceQuota).status?.used ?? {};
  return { clock, send, used };
}

function quota(hard: Record<string, string>, more: object = {}): object {
  return { apiVersion: "v1", kind: "ResourceQuota", metadata: { name: "q" }, spec: { hard, ...more } };
}

function pod(name: string, cpu: number, more: object = {}): object {
  const resources = { requests: { cpu: `${cpu}m` } };
  return { metadata: { name }, spec: { containers: [{ name: "c", image: "i", resources }], ...more } };
}

const names = fc.constantFrom("a", "b", "c");
type Step =
  | { readonly do: "create"; readonly name: string; readonly cpu: number; readonly dryRun: boolean }
  | { readonly do: "delete" | "end" | "serve" | "unserve"; readonly name: string };
const steps: fc.Arbitrary<Step[]> = fc.array(
  fc.oneof(
    fc.record({
      do: fc.constant("create" as const),
      name: names,
      cpu: fc.integer({ min: 1, max: 900 }),
      dryRun: fc.boolean(),
    }),
    fc.record({
      do: fc.constantFrom("delete" as const, "end" as const, "serve" as const, "unserve" as const),
      name: names,
    }),
  ),
  { maxLength: 20 },
);

async function take({ send }: World, step: Step): Promise<void> {
  const { name } = step;
  if (step.do === "create") await send("POST", "pods", pod(name, step.cpu), step.dryRun ? "?dryRun=All" : "");
  else if (step.do === "delete") await send("DELETE", `pods/${name}`);
  else if (step.do === "unserve") await send("DELETE", `services/${name}`);
  else if (step.do === "serve") {
    const spec = { type: "NodePort", ports: [{ port: 80 }] };
    await send("POST", "services", { metadata: { name }, spec });
  } else {
    const ended = (await send("GET", `pods/${name}`)) as Pod;
    if (ended.kind === "Pod") await send("PUT", `pods/${name}/status`, { ...ended, status: { phase: "Succeeded" } });
  }
}

/** Computes the usage independently of the server's own accounting. */
async function computeUsage({ send }: World): Promise<Record<string, number>> {
  const list = async (path: string): Promise<KubernetesObject[]> =>
    ((await send("GET", path)) as unknown as { items: KubernetesObject[] }).items;
  const pods = (await list("pods")) as Pod[];
  const running = pods.filter(({ status }) => status?.phase !== "Succeeded");
  const services = await list("services");
  const millis = running.map(({ spec }) => Number(/\d+/.exec(spec!.containers[0]!.resources!.requests!["cpu"]!)![0]));
  return {
    pods: running.length,
    "count/pods": pods.length,
    "requests.cpu": millis.reduce((sum, each) => sum + each, 0),
    services: services.length,
    "services.nodeports": services.length,
  };
}

const HARD = { pods: "2", "count/pods": "3", "requests.cpu": "1", services: "2", "services.nodeports": "1" };

test("used equals the stored objects after any sequence of writes, and never exceeds hard", async () => {
  await fc.assert(
    fc.asyncProperty(steps, fc.nat(20), async (all, when) => {
      const world = serve(true);
      for (const [index, step] of all.entries()) {
        // Objects that were stored before the quota count, too.
        if (index === Math.min(when, all.length - 1)) {
          await world.send("POST", "resourcequotas", quota(HARD));
          await world.clock.advance(0);
        }
        await take(world, step);
        if (index < Math.min(when, all.length - 1)) continue;
        const used = await world.used();
        const cpu = used["requests.cpu"]!;
        const numbers = {
          ...Object.fromEntries(Object.entries(used).map(([name, text]) => [name, Number(text)])),
          "requests.cpu": cpu.endsWith("m") ? Number.parseInt(cpu, 10) : Number(cpu) * 1000,
        };
        expect(numbers).toEqual(await computeUsage(world));
      }
    }),
    { numRuns: 60 },
  );
});

test("a new quota limits its namespace immediately", async () => {
  await fc.assert(
    fc.asyncProperty(steps, async (all) => {
      const world = serve(true);
      await world.send("POST", "resourcequotas", quota(HARD));
      await world.clock.advance(0);
      for (const step of all) await take(world, step);
      const counted = await computeUsage(world);
      for (const [name, max] of Object.entries(HARD))
        expect(counted[name]).toBeLessThanOrEqual(name === "requests.cpu" ? 1000 : Number(max));
    }),
    { numRuns: 60 },
  );
});

describe("without a controller", () => {
  async function withUsage(hard: Record<string, string>, used: Record<string, string>, more = {}): Promise<World> {
    const world = serve(false);
    const made = (await world.send("POST", "resourcequotas", quota(hard, more))) as ResourceQuota;
    expect(made.status).toEqual({});
    await world.send("PUT", "resourcequotas/q/status", { ...made, status: { hard, used } });
    return world;
  }

  test("creates are charged, and deletes are left to a controller", async () => {
    const world = await withUsage({ pods: "1" }, { pods: "0" });
    await world.send("POST", "pods", pod("a", 1));
    expect((await world.send("POST", "pods", pod("b", 1))).message).toBe(
      'pods "b" is forbidden: exceeded quota: q, requested: pods=1, used: pods=1, limited: pods=1',
    );
    await world.send("DELETE", "pods/a");
    expect(await world.used()).toEqual({ pods: "1" });
  });

  test("a second object of one name is not charged", async () => {
    const world = await withUsage({ pods: "9" }, { pods: "0" });
    await world.send("POST", "pods", pod("a", 1));
    expect((await world.send("POST", "pods", pod("a", 1))).code).toBe(409);
    expect(await world.used()).toEqual({ pods: "1" });
  });

  test.each<[string, object, object, object]>([
    ["Terminating", {}, { activeDeadlineSeconds: 5 }, {}],
    ["NotTerminating", {}, {}, { activeDeadlineSeconds: 5 }],
    ["NotBestEffort", {}, {}, { containers: [{ name: "c", image: "i" }] }],
    ["BestEffort", {}, { containers: [{ name: "c", image: "i" }] }, {}],
    ["PriorityClass", { operator: "In", values: ["x"] }, { priorityClassName: "x" }, { priorityClassName: "y" }],
    ["PriorityClass", { operator: "NotIn", values: ["x"] }, {}, { priorityClassName: "x" }],
    ["PriorityClass", { operator: "DoesNotExist" }, {}, { priorityClassName: "x" }],
    [
      "CrossNamespacePodAffinity",
      {},
      {
        affinity: {
          podAffinity: {
            requiredDuringSchedulingIgnoredDuringExecution: [
              { topologyKey: "k", namespaces: ["n"], labelSelector: {} },
            ],
          },
        },
      },
      {},
    ],
  ])("the scope %s %j counts its own", async (scopeName, requirement, counted, other) => {
    const scopeSelector = { matchExpressions: [{ scopeName, operator: "Exists", ...requirement }] };
    const world = await withUsage({ pods: "0" }, { pods: "0" }, { scopeSelector });
    expect((await world.send("POST", "pods", pod("a", 1, counted))).code).toBe(403);
    expect((await world.send("POST", "pods", pod("b", 1, other))).kind).toBe("Pod");
  });

  test("a pod's usage is the maximum of its containers' sum and its init containers", async () => {
    const sized = (name: string, cpu: string, more: object = {}): object => ({
      name,
      image: "i",
      resources: { requests: { cpu } },
      ...more,
    });
    const world = await withUsage({ "requests.cpu": "10" }, { "requests.cpu": "0" });
    const before = [sized("i", "3"), sized("s", "1", { restartPolicy: "Always" }), sized("j", "3500m")];
    const spec = { initContainers: before, containers: [sized("c", "1"), sized("d", "500m")] };
    await world.send("POST", "pods", { metadata: { name: "a" }, spec });
    expect(await world.used()).toEqual({ "requests.cpu": "4500m" });
  });
});

test("a quota limits known resources, and counts are integers", () => {
  const name = fc.constantFrom("pods", "cpu", "requests.cpu", "count/x.y", "nonsense", "requests.example.com/gpu");
  fc.assert(
    fc.property(name, fc.integer({ min: -1, max: 3 }), fc.boolean(), (limited, amount, half) => {
      const { message } = create(
        resourceQuotaStrategy,
        quota({ [limited]: half ? `${amount * 1000 + 500}m` : `${amount}` }),
      );
      const isWhole = !half || limited === "cpu" || limited.startsWith("requests.");
      const isPositive = amount >= 0;
      expect(message === "").toBe(limited !== "nonsense" && isWhole && isPositive);
    }),
  );
});

test("scopes must be known, consistent and applicable to the counted resources", () => {
  const scope = fc.constantFrom("Terminating", "NotTerminating", "BestEffort", "NotBestEffort", "PriorityClass", "Odd");
  const limited = fc.uniqueArray(fc.constantFrom("pods", "cpu", "services", "count/pods"), { minLength: 1 });
  fc.assert(
    fc.property(fc.uniqueArray(scope), limited, (scopes, hard) => {
      const { message } = create(
        resourceQuotaStrategy,
        quota(Object.fromEntries(hard.map((each) => [each, "1"])), { scopes }),
      );
      const has = (...wanted: string[]): boolean => wanted.every((each) => scopes.some((one) => one === each));
      const fine =
        !has("Odd") &&
        !has("Terminating", "NotTerminating") &&
        !has("BestEffort", "NotBestEffort") &&
        (scopes.length === 0 || !hard.includes("services")) &&
        !(has("BestEffort") && hard.includes("cpu"));
      expect(message === "").toBe(fine);
    }),
  );
});

test("a quota's scopes are immutable, its limits are not", () => {
  const { object } = create<ResourceQuota>(resourceQuotaStrategy, quota({ pods: "1" }, { scopes: ["BestEffort"] }));
  expect(update(resourceQuotaStrategy, object, ({ spec }) => (spec!.hard = { pods: "5" })).message).toBe("");
  expect(update(resourceQuotaStrategy, object, ({ spec }) => delete spec!.scopes).message).toBe(
    "spec.scopes: Invalid value: null: field is immutable",
  );
});
