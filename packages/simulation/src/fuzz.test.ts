import { type ConfigMap, configMaps, jobs } from "@kubewright/api";
import { expect, test } from "vitest";

import { type FuzzOptions, fuzz } from "./fuzz.js";
import { generatePlan } from "./generate/generate-plan.js";
import type { Invariant } from "./invariant.js";

/** Creates a ConfigMap with a generated name for every Job for which its cache shows none. */
const forgetful: NonNullable<FuzzOptions["controllers"]> = {
  reporter: ({ client, clock, informers }) => {
    const seen = { jobs: informers.informerFor(jobs), reports: informers.informerFor(configMaps) };
    return {
      name: "reporter",
      async run(signal) {
        while (!signal.aborted) {
          await clock.sleep(1_000, signal).catch(() => {});
          const reported = new Set(seen.reports.store.list().map(({ data }) => data?.["job"]));
          for (const { metadata } of signal.aborted ? [] : seen.jobs.store.list()) {
            const { name = "", namespace = "" } = metadata;
            if (reported.has(name)) continue;
            const report = { metadata: { generateName: `${name}-` }, data: { job: name } };
            await client
              .resource(configMaps)
              .create(report, { namespace, signal })
              .catch(() => {});
          }
        }
      },
    };
  },
};

const oneReport: Invariant = {
  name: "one report",
  sentence: "There is one report of each Job.",
  watch: (world, violated) => ({
    onChange: ({ resource, type, object }) => {
      const job = (object as ConfigMap).data?.["job"];
      if (resource !== "configmaps" || type !== "ADDED" || job === undefined) return;
      const reports = world.list<ConfigMap>("configmaps").filter(({ data }) => data?.["job"] === job);
      if (reports.length > 1) violated(`Job default/${job}`, `it has ${reports.length} reports`);
    },
  }),
};

const template = { spec: { restartPolicy: "Never", containers: [{ name: "c", image: "busybox" }] } };
const workload = () => ({
  manifests: [
    { apiVersion: "batch/v1", kind: "Job", metadata: { name: "pi", namespace: "default" }, spec: { template } },
    { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "other", namespace: "default" } },
  ],
});

test("a custom controller that acts on a stale cache is found, with one scenario event", async () => {
  const { violations, plansRun } = await fuzz({ seeds: 30, controllers: forgetful, workload, invariants: [oneReport] });
  expect(plansRun).toBeGreaterThanOrEqual(30);
  const [found] = violations;
  expect(found).toMatchObject({ invariant: "one report", kind: "Job", violation: { message: "it has 2 reports" } });
  const { plan, isMinimal } = found!.minimized!;
  expect(isMinimal).toBe(true);
  expect([plan.manifests.map(({ kind }) => kind), plan.events!.length <= 1]).toEqual([["Job"], true]);
});

test("faults of a campaign with controllers of one's own are about these", () => {
  const options = { controllers: ["reporter"], workload };
  for (let seed = 1; seed <= 100; seed++)
    for (const { requestFails, controllerCrashes, staleCache } of generatePlan(seed, options).events ?? []) {
      expect(requestFails?.components ?? ["reporter"]).not.toContain("kubelet");
      expect(["reporter", "all"]).toContain(controllerCrashes?.controller ?? "all");
      expect(["Job", "ConfigMap"]).toContain(staleCache?.kind ?? "Job");
    }
});
