import { pathToFileURL } from "node:url";
import { expect, test } from "vitest";

import type { UnstructuredObject } from "@kubewright/api";

import type { FaultPlan, ScenarioEventEntry } from "../src/index.js";
import { job, planOf } from "../test/plans.js";
import { mutantPath, unmutatedPath } from "./build.ts";
import type { Simulation } from "./hunt.ts";

const SIMULATION = "packages/simulation/src/index.ts";

/** Jobs in six buckets with steady work, and three managers that share them. */
function steadily(events: readonly ScenarioEventEntry[]): FaultPlan {
  const manifests = Array.from({ length: 6 }, (_, index): UnstructuredObject[] => {
    const namespace = `team-${index + 1}`;
    const { metadata, ...steady } = job("steady", { parallelism: 2, completions: 40 }, "5s");
    return [
      { apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } },
      { ...steady, metadata: { ...metadata, namespace } },
    ];
  }).flat();
  return planOf(events, {
    for: "4m",
    manifests,
    controllerManagers: 3,
    controllers: { sharding: true, consistencyGate: false },
  });
}

async function violationsIn(bundle: string, plan: FaultPlan): Promise<readonly string[]> {
  const { runPlan, builtInInvariants } = (await import(pathToFileURL(bundle).href)) as Simulation;
  const { violations } = await runPlan(plan, { invariants: builtInInvariants, stopAtFirstViolation: true });
  return [...new Set(violations.map(({ invariant }) => invariant))];
}

test.each([
  [
    "shard-fence-missing",
    "S21 one writer per bucket",
    [
      { at: "+30s", for: "40s", leaseLost: "controller-manager-1" },
      { at: "+45s", for: "40s", paused: "controller-manager-2" },
    ],
  ],
  [
    "shard-list-before-barrier",
    "S17 caches are monotonic",
    [
      { at: "+20s", for: "2m", staleList: { controller: "informers", by: "10s" } },
      { at: "+40s", for: "5s", shutdown: "controller-manager-1" },
      { at: "+60s", for: "5s", shutdown: "controller-manager-2" },
    ],
  ],
] as const)("%s is reported by %s, and the code without it is not", async (name, invariant, events) => {
  const plan = steadily(events);
  expect(await violationsIn(await mutantPath(name, SIMULATION), plan)).toContain(invariant);
  expect(await violationsIn(await unmutatedPath(SIMULATION), plan)).toEqual([]);
});
