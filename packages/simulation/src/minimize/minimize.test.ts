import { parseDuration } from "@kubewright/clock";
import { assert, asyncProperty, integer } from "fast-check";
import { describe, expect, test } from "vitest";

import type { FaultPlan } from "../fault-plan.js";
import { generatePlan } from "../generate/generate-plan.js";
import type { InvariantViolation } from "../invariant.js";
import type { ScenarioEventEntry } from "../faults/registry.js";
import { minimize } from "./minimize.js";
import { missingReferences } from "./references.js";
import { omissions } from "./simpler-values.js";

const violation = (plan: FaultPlan, afterMs = 5_000): InvariantViolation => ({
  invariant: "S1 counted once",
  subject: "Job default/job-1",
  message: "counted twice",
  atMs: Date.parse(plan.start) + afterMs,
});

/** Returns a test for plans that fails when the predicate holds. */
const failsWhen =
  (holds: (plan: FaultPlan) => boolean) =>
  async (plan: FaultPlan): Promise<InvariantViolation | undefined> =>
    holds(plan) ? violation(plan) : undefined;

const happens = (plan: FaultPlan, holds: (entry: ScenarioEventEntry) => boolean): boolean =>
  plan.events?.some(holds) === true;
const jobOf = (plan: FaultPlan): Record<string, number> | undefined =>
  plan.manifests.find(({ kind, metadata }) => kind === "Job" && metadata.name === "job-1")?.["spec"] as never;

/** Returns a plan with many parts. */
function richPlan(holds: (plan: FaultPlan) => boolean = () => true): FaultPlan {
  for (let seed = 1; ; seed++) {
    const plan = generatePlan(seed);
    if ((plan.events?.length ?? 0) > 6 && plan.manifests.length > 2 && jobOf(plan) !== undefined && holds(plan))
      return plan;
  }
}

describe("planted causes", () => {
  test("one scenario event is left", async () => {
    const plan = richPlan((each) => happens(each, ({ staleCache }) => staleCache !== undefined));
    const { plan: smallest, isMinimal } = await minimize(
      plan,
      failsWhen((each) => happens(each, ({ staleCache }) => staleCache !== undefined)),
    );
    expect(isMinimal).toBe(true);
    expect(smallest).toEqual({
      apiVersion: plan.apiVersion,
      kind: plan.kind,
      name: plan.name,
      seed: plan.seed,
      start: plan.start,
      for: "6s",
      workloads: [],
      manifests: [],
      events: [{ at: "+0s", for: expect.stringMatching(/^[01]m?s$/), staleCache: expect.any(Object) }],
    });
  });

  test("what begins after it has gone wrong goes first, in one go, and then whole kinds", async () => {
    const offset = ({ at }: ScenarioEventEntry): number => parseDuration(at.slice(1))!;
    const plan = richPlan(
      (each) => happens(each, (entry) => offset(entry) > 5_000) && happens(each, (entry) => offset(entry) <= 5_000),
    );
    const played: FaultPlan[] = [];
    await minimize(plan, async (each) => {
      played.push(each);
      return violation(each);
    });
    expect(played[1]!.events).toEqual(plan.events!.filter((entry) => offset(entry) <= 5_000));
    expect(played[2]!.for).toBe("6s");
    expect(played[3]!.events!.length).toBeLessThan(played[2]!.events!.length);
  });

  test("two events that only together do harm are both left, as late and long as they have to be", async () => {
    const forMs = ({ for: length = "0s" }: ScenarioEventEntry): number => parseDuration(length)!;
    const isLong = (entry: ScenarioEventEntry): boolean => entry.staleCache !== undefined && forMs(entry) >= 2_000;
    const isAfter = (entry: ScenarioEventEntry): boolean =>
      entry.delete !== undefined && parseDuration(entry.at.slice(1))! >= 1_500;
    const both = (plan: FaultPlan): boolean => happens(plan, isLong) && happens(plan, isAfter);
    const { plan: smallest } = await minimize(richPlan(both), failsWhen(both));
    expect(smallest.events).toHaveLength(2);
    const lengthMs = forMs(smallest.events!.find(isLong)!);
    const atMs = parseDuration(smallest.events!.find(isAfter)!.at.slice(1))!;
    expect(lengthMs).toBeLessThan(4_000);
    expect(atMs).toBeLessThan(3_000);
  });

  test("a Job with a number of pods is left with that number, and without any other field", async () => {
    const holds = (plan: FaultPlan): boolean => (jobOf(plan)?.["parallelism"] ?? 0) >= 3;
    const { plan: smallest } = await minimize(richPlan(holds), failsWhen(holds));
    expect(smallest.manifests.filter(({ kind }) => kind !== "Namespace")).toEqual([
      {
        apiVersion: "batch/v1",
        kind: "Job",
        metadata: { name: "job-1", namespace: expect.any(String) },
        spec: {
          parallelism: 3,
          template: { spec: { restartPolicy: expect.any(String), containers: expect.any(Array) } },
        },
      },
    ]);
    expect(smallest.events).toEqual([]);
    expect(smallest.workloads).toEqual([]);
    expect(smallest.controllers).toBeUndefined();
    expect(smallest.jitter).toBeUndefined();
  });

  test("a switch that is needed stays", async () => {
    const holds = (plan: FaultPlan): boolean => plan.controllers?.consistencyGate === false;
    const { plan: smallest } = await minimize(richPlan(holds), failsWhen(holds));
    expect(smallest.controllers).toEqual({ consistencyGate: false });
    expect([smallest.manifests, smallest.events]).toEqual([[], []]);
  });
});

test("another invariant, or another kind of object, is another failure", async () => {
  const plan = richPlan();
  const { plan: smallest, violation: found } = await minimize(plan, async (each) => {
    if (each.manifests.length === plan.manifests.length) return violation(each);
    if (each.manifests.length % 2 === 0)
      return { ...violation(each), invariant: "S2 recorded before finalizer removal" };
    return { ...violation(each), subject: "Pod default/job-1-abcde" };
  });
  expect(smallest.manifests).toHaveLength(plan.manifests.length);
  expect(found.invariant).toBe("S1 counted once");
});

test("what is found at rest leaves the time to settle as it was", async () => {
  const plan = richPlan((each) => happens(each, ({ delete: deleted }) => deleted !== undefined));
  const endMs = (each: FaultPlan): number => parseDuration(each.for)!;
  const lastMs = Math.max(
    ...plan.events!.map(({ at, for: length = "0s" }) => parseDuration(at.slice(1))! + parseDuration(length)!),
  );
  const { plan: smallest } = await minimize(plan, async (each) => violation(each, endMs(each)));
  expect(smallest.events).toEqual([]);
  expect(endMs(smallest)).toBe(endMs(plan) - lastMs);
});

test("a run that ends before it quiesces is not reported as a failure", async () => {
  const plan = richPlan();
  const { plan: smallest } = await minimize(plan, async (each) => {
    const endMs = parseDuration(each.for)!;
    // The real violation comes after 30 s; a shorter plan has an unfinished state at its end instead.
    return violation(each, Math.min(endMs, 30_000));
  });
  expect(smallest.for).toBe("31s");
});

test("for every seed, the result fails, is valid, and is reproducible", async () => {
  await assert(
    asyncProperty(integer({ min: 1, max: 100_000 }), integer({ min: 0, max: 2 ** 31 }), async (seed, which) => {
      const plan = generatePlan(seed);
      const { events = [] } = plan;
      const kinds = events.map((entry) => Object.keys(entry).find((key) => key !== "at" && key !== "for")!);
      const wanted = [kinds[which % Math.max(1, kinds.length)], kinds[(which >> 8) % Math.max(1, kinds.length)]].filter(
        (kind) => kind !== undefined,
      );
      const fails = failsWhen((each) => wanted.every((kind) => happens(each, (entry) => kind in entry)));
      const first = await minimize(plan, fails);
      expect(await fails(first.plan)).toBeDefined();
      expect(missingReferences(first.plan)).toEqual([]);
      // No event can be removed: it is needed itself, or creates an object that a needed event names.
      const left = first.plan.events ?? [];
      for (const one of left) {
        const rest = { ...first.plan, events: left.filter((other) => other !== one) };
        expect(missingReferences(rest).length > 0 || (await fails(rest)) === undefined).toBe(true);
      }
      expect(await minimize(plan, fails)).toEqual(first);
    }),
    { numRuns: 40 },
  );
});

test("no more plans are run than the budget allows, and the smallest plan is returned", async () => {
  const plan = richPlan();
  let plansRun = 0;
  const progress: number[] = [];
  const result = await minimize(
    plan,
    async (each) => {
      plansRun++;
      return violation(each);
    },
    { budget: 5, onProgress: ({ plansRun: reported }) => progress.push(reported) },
  );
  expect([plansRun, result.plansRun, result.isMinimal]).toEqual([5, 5, false]);
  expect(progress).toEqual([2, 3, 4, 5]);
});

test("a plan that does not fail cannot be minimised", async () => {
  await expect(minimize(richPlan(), async () => undefined)).rejects.toThrow("the plan does not fail");
});

test("when aborted, it returns the smallest plan so far", async () => {
  const stop = new AbortController();
  const plan = richPlan();
  const result = await minimize(
    plan,
    async (each) => {
      stop.abort();
      return violation(each);
    },
    { signal: stop.signal },
  );
  expect(result).toMatchObject({ plansRun: 1, isMinimal: false });
  expect(result.plan).toEqual(plan);
});

test("an event of a component that exists only with sharding needs sharding", () => {
  const plan = { ...generatePlan(1), manifests: [], workloads: [] };
  const events = [{ at: "+0s", for: "1m", staleList: { controller: "informers", by: "10s" } }];
  expect(missingReferences({ ...plan, events })).toEqual(["shared work"]);
  expect(missingReferences({ ...plan, events, controllers: { sharding: true } })).toEqual([]);
});

test("no field is removed that an event requires", () => {
  const nodeTainted = { node: "node-1", key: "example.com/a", value: "b", effect: "NoExecute" } as const;
  const removed = omissions({ ...generatePlan(1), manifests: [], events: [{ at: "+0s", nodeTainted }] });
  expect(removed.filter(({ path }) => path[0] === "events")).toEqual([]);
});
