import { jobs, pods, resourceQuotas } from "@kubewright/api";
import { SimulatedClock, seededRandom, silentLogger } from "@kubewright/clock";
import { expect, test } from "vitest";

import { createCluster } from "./cluster.js";

test("a Job gets no more pods at a time than its namespace's quota has room for, and still all of them in the end", async () => {
  const clock = new SimulatedClock("2026-01-01T00:00:00Z");
  const cluster = createCluster({ clock, random: seededRandom(1), freeze: true, logger: silentLogger });
  const stop = new AbortController();
  const running = cluster.run(stop.signal);
  await clock.settle();
  const client = cluster.client("admin");
  const quotas = client.resource(resourceQuotas);
  await quotas.create({ metadata: { name: "q", namespace: "default" }, spec: { hard: { pods: "2" } } });
  await clock.advance(1000);
  const template = { spec: { restartPolicy: "Never", containers: [{ name: "c", image: "i" }] } };
  await client
    .resource(jobs)
    .create({ metadata: { name: "j", namespace: "default" }, spec: { parallelism: 5, completions: 5, template } });
  await clock.advance(2000);
  expect((await client.resource(pods).list({ namespace: "default" })).items).toHaveLength(2);
  expect((await quotas.get("q", { namespace: "default" })).status).toEqual({
    hard: { pods: "2" },
    used: { pods: "2" },
  });
  await clock.advance(3_600_000);
  const { status } = await client.resource(jobs).get("j", { namespace: "default" });
  expect(status?.succeeded).toBe(5);
  expect((await quotas.get("q", { namespace: "default" })).status?.used).toEqual({ pods: "0" });
  stop.abort();
  await running;
});
