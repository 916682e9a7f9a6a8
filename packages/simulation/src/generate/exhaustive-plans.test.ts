import { expect, test } from "vitest";

import type { FaultPlan } from "../fault-plan.js";
import { runAndCompare } from "../fuzz/run-and-compare.js";
import type { Invariant } from "../invariant.js";
import { builtInInvariants } from "../invariants/built-in.js";
import type { Outcome } from "../outcome.js";
import { runPlan } from "../run-plan.js";
import { SCENARIO_API_VERSION } from "../scenario/schema.js";
import { exhaustivePlans } from "./exhaustive-plans.js";

const template = {
  spec: { restartPolicy: "Never", containers: [{ name: "main", image: "registry.example.com/main:1" }] },
};

/** Three pods, one of which fails once; the TTL deletes the Job and its pods some time after its end. */
const SMALL: FaultPlan = {
  apiVersion: SCENARIO_API_VERSION,
  kind: "Scenario",
  name: "small",
  seed: 1,
  start: "2026-01-01T00:00:00Z",
  for: "10m",
  nodes: [{ name: "node", count: 1 }],
  workloads: [
    { select: { kind: "Job", namespace: "default", name: "small" }, duration: "2s" },
    { select: { kind: "Job", namespace: "default", name: "small" }, indexes: 0, attempts: 1, exitCode: 1 },
  ],
  manifests: [
    {
      apiVersion: "batch/v1",
      kind: "Job",
      metadata: { name: "small", namespace: "default" },
      spec: {
        completions: 3,
        parallelism: 3,
        completionMode: "Indexed",
        backoffLimit: 2,
        ttlSecondsAfterFinished: 60,
        template,
      },
    },
  ],
};

const WRITES: ReadonlySet<string> = new Set(["create", "update", "patch", "delete"]);

/** Returns the number of writes of each controller without faults, and the outcome of that run. */
async function calmRun(): Promise<{ readonly outcome: Outcome; readonly writes: ReadonlyMap<string, number> }> {
  const writes = new Map<string, number>();
  const counting: Invariant = {
    name: "none",
    sentence: "Nothing is wrong.",
    watch: () => ({
      onAnswer({ component, verb }) {
        if (WRITES.has(verb)) writes.set(component, (writes.get(component) ?? 0) + 1);
      },
    }),
  };
  return { outcome: await runPlan(SMALL, { invariants: [...builtInInvariants, counting] }), writes };
}

test.each([
  ["job-controller", 10],
  ["ttl-after-finished-controller", 1],
  ["garbage-collector-controller", 4],
])(
  "with a fault at any single write of %s, of which there are %i or more, a small run converges",
  async (controller, least) => {
    const { outcome: calm, writes } = await calmRun();
    expect(calm.violations).toEqual([]);
    const count = writes.get(controller) ?? 0;
    expect(count).toBeGreaterThanOrEqual(least);
    const wrong: unknown[] = [];
    const playOnce = (plan: FaultPlan): Promise<Outcome> => runPlan(plan, { invariants: builtInInvariants });
    for (const plan of exhaustivePlans(SMALL, { controllers: [controller], writes: count })) {
      const { violations } = await runAndCompare(plan, playOnce, () => Promise.resolve(calm));
      if (violations.length > 0) wrong.push([plan.events, violations]);
    }
    expect(wrong).toEqual([]);
  },
);
