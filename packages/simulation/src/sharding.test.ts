import type { UnstructuredObject } from "@kubewright/api";
import { expect, test } from "vitest";

import { cronJob, job, planOf, recordRun } from "../test/plans.js";
import { builtInInvariants } from "./index.js";

const NAMESPACES = Array.from({ length: 8 }, (_, index) => `team-${index + 1}`);

/** Returns a Job and a CronJob in each of eight namespaces, which are in eight buckets. */
function spread(): UnstructuredObject[] {
  const within = (namespace: string, object: UnstructuredObject): UnstructuredObject => ({
    ...object,
    metadata: { ...object.metadata, namespace },
  });
  return NAMESPACES.flatMap((name) => [
    { apiVersion: "v1", kind: "Namespace", metadata: { name } },
    within(name, job("job", { parallelism: 2, completions: 3, ttlSecondsAfterFinished: 120 })),
    within(name, job("kept", { completions: 4, parallelism: 4, completionMode: "Indexed" })),
    within(name, cronJob("cron", "* * * * *", { successfulJobsHistoryLimit: 1 })),
  ]);
}

test("managers that share work come to what one comes to by itself, each for some buckets", async () => {
  const manifests = spread();
  const options = { invariants: builtInInvariants };
  const alone = await recordRun(planOf([], { manifests }), options);
  const shared = await recordRun(
    planOf([], { manifests, controllerManagers: 3, controllers: { sharding: true } }),
    options,
  );
  expect(shared.outcome.violations).toEqual([]);
  const { "ConfigMap kube-system/kubewright-assignment": assignment, ...settled } = shared.outcome.settled;
  expect(assignment).toEqual({});
  expect(settled).toEqual(alone.outcome.settled);
  expect(shared.staleCaches).toEqual([]);
  const writers = new Set(
    shared.changes.flatMap(({ request }) => (request?.component === "job-controller" ? [request.process] : [])),
  );
  expect([...writers].toSorted()).toEqual(["controller-manager-1", "controller-manager-2", "controller-manager-3"]);
});
