import { expect, test } from "vitest";

import { readPlan } from "../check-plan.js";
import { generateShardedPlan } from "./sharded-plan.js";
import { withoutFaults } from "../fuzz/run-and-compare.js";
import { missingReferences } from "../minimize/references.js";

const SEEDS = Array.from({ length: 70 }, (_, seed) => seed);

test("each is a plan, says all that it names, and has managers that share work in several namespaces", async () => {
  for (const seed of SEEDS) {
    const plan = generateShardedPlan(seed, { managers: 3 });
    await expect(readPlan(JSON.parse(JSON.stringify(plan)))).resolves.toMatchObject({
      controllerManagers: 3,
      controllers: { sharding: true },
    });
    expect(missingReferences(plan)).toEqual([]);
    const namespaces = new Set(plan.manifests.map(({ metadata: { namespace = "default" } }) => namespace));
    expect(namespaces.size).toBeGreaterThan(2);
  }
});

test("no Job is added to a namespace that has a quota of Jobs", () => {
  let quotas = 0;
  for (const seed of SEEDS) {
    const { manifests } = generateShardedPlan(seed, { managers: 3 });
    for (const { kind, metadata, spec } of manifests) {
      const hard = (spec as { readonly hard?: Readonly<Record<string, string>> } | undefined)?.hard?.[
        "count/jobs.batch"
      ];
      if (kind !== "ResourceQuota" || hard === undefined) continue;
      quotas++;
      const jobs = manifests.filter((each) => each.kind === "Job" && each.metadata.namespace === metadata.namespace);
      expect(jobs.length, `seed ${seed}`).toBeLessThanOrEqual(Number(hard));
    }
  }
  expect(quotas).toBeGreaterThan(0);
});

test("managers crash, shut down, pause, lose their Leases, fail to write the assignment and have wrong clocks", () => {
  const events = SEEDS.flatMap((seed) => generateShardedPlan(seed, { managers: 3 }).events ?? []);
  for (const kind of ["controllerDown", "shutdown", "paused", "leaseLost"] as const)
    expect(
      events.some((entry) => entry[kind] === "controller-manager-2"),
      kind,
    ).toBe(true);
  expect(events.some(({ clockSkew }) => clockSkew !== undefined)).toBe(true);
  expect(events.some(({ apiServerSlow }) => apiServerSlow?.components?.includes("sharding"))).toBe(true);
  for (const resource of ["configmaps", "leases"])
    expect(events.some(({ requestFails }) => requestFails?.resources?.includes(resource))).toBe(true);
});

test("with no faults the workload and what users do are the same, and nothing else happens", () => {
  for (const seed of SEEDS) {
    const { for: _for, ...calm } = withoutFaults(generateShardedPlan(seed, { managers: 3 }));
    const { for: _length, ...generated } = generateShardedPlan(seed, { managers: 3, faults: [] });
    expect(calm).toEqual(generated);
  }
});
