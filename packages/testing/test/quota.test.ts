import { jobs, pods, resourceQuotas } from "@kubewright/api";
import { expect, test } from "vitest";

import "../src/vitest.js";
import { startTestCluster } from "../src/index.js";

test("an object that exceeds a quota waits, as in any cluster with controllers", async () => {
  await using cluster = await startTestCluster();
  const quota = await cluster.create(resourceQuotas, { metadata: { name: "q" }, spec: { hard: { pods: "2" } } });
  await cluster.advance("1s");
  const template = { spec: { restartPolicy: "Never", containers: [{ name: "c", image: "i" }] } };
  const job = await cluster.create(jobs, {
    metadata: { name: "j" },
    spec: { parallelism: 5, completions: 5, template },
  });
  await cluster.advance("2s");
  await expect(job).toOwn(pods, 2);
  expect((await quota.get()).status).toEqual({ hard: { pods: "2" }, used: { pods: "2" } });
  await cluster.eventually(() => expect(job).toHaveCondition("Complete"), { within: "1h" });
});
