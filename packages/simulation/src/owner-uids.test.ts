import { expect, test } from "vitest";

import type { FaultPlan } from "./fault-plan.js";
import { runPlan } from "./run-plan.js";
import { uidPlaceholder, resolveOwnerUids } from "./owner-uids.js";

const child = (uid: string) => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name: "child", ownerReferences: [{ apiVersion: "batch/v1", kind: "Job", name: "pi", uid }] },
});

test("an owner named by a plan gets the UID it has in the run", async () => {
  const asked: unknown[] = [];
  const filled = await resolveOwnerUids(child(uidPlaceholder({ namespace: "second", name: "pi" })), async (owner) => {
    asked.push(owner);
    return "1234";
  });
  expect(filled).toEqual(child("1234"));
  expect(asked).toEqual([{ apiVersion: "batch/v1", kind: "Job", namespace: "second", name: "pi" }]);
});

test("an owner that does not exist keeps the placeholder as its UID, and a literal UID stays", async () => {
  const absent = child("uid of default/pi");
  expect(await resolveOwnerUids(absent, async () => undefined)).toEqual(absent);
  const written = child("abcd");
  expect(await resolveOwnerUids(written, async () => "1234")).toBe(written);
});

test("a plan's ConfigMap goes with the Job that it names as its owner, and a copy in another namespace alone", async () => {
  const configMap = (namespace: string) => ({
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: {
      name: "child",
      namespace,
      ownerReferences: [
        { apiVersion: "batch/v1", kind: "Job", name: "pi", uid: uidPlaceholder({ namespace: "default", name: "pi" }) },
      ],
    },
  });
  const template = { spec: { restartPolicy: "Never", containers: [{ name: "c", image: "busybox" }] } };
  const plan: FaultPlan = {
    apiVersion: "sim.kubewright.dev/v1",
    kind: "Scenario",
    seed: 1,
    start: "2026-01-01T00:00:00Z",
    for: "10m",
    manifests: [
      { apiVersion: "v1", kind: "Namespace", metadata: { name: "second" } },
      { apiVersion: "batch/v1", kind: "Job", metadata: { name: "pi", namespace: "default" }, spec: { template } },
    ],
    events: [
      { at: "+0s", apply: configMap("default") },
      { at: "+0s", apply: configMap("second") },
    ],
  };
  const { settled } = await runPlan(plan);
  expect(Object.keys(settled).filter((name) => name.endsWith("/child"))).toEqual(["ConfigMap default/child"]);
  const deleted = { at: "+1m", delete: { kind: "Job", name: "pi" } } as const;
  const { settled: after } = await runPlan({ ...plan, events: [...plan.events!, deleted] });
  expect(Object.keys(after).filter((name) => name.endsWith("/child"))).toEqual([]);
});
