import { type Job, jobs } from "@kubewright/api";
import type { SimulatedClock } from "@kubewright/clock";
import type { Transport } from "@kubewright/transport";
import { expect, test } from "vitest";

import { backups, jobOf } from "../test/backups.js";
import { startServer } from "../test/operator-harness.js";
import { createOperator } from "./index.js";

/** A transport whose watches deliver all events one second late. */
function lateWatches(transport: Transport, clock: SimulatedClock): Transport {
  return async (request) => {
    const response = await transport(request);
    if (response.body.type !== "events") return response;
    const { events } = response.body;
    async function* late() {
      for await (const event of events) {
        await clock.sleep(1_000);
        yield event;
      }
    }
    return { ...response, body: { type: "events", events: late() } };
  };
}

test("what a reconcile has created is in the cache before the next one of its key", async () => {
  const { clock, client, server, run, createBackup } = await startServer();
  const operator = createOperator({ name: "backup-operator", leaderElection: false });
  let looks = 0;
  operator
    .controllerFor(backups)
    .owns(jobs)
    .reconcile(async ({ object, cache, client }) => {
      looks++;
      if (cache.controlledBy(jobs, object).length > 0) return {};
      const { metadata, spec } = jobOf(object);
      const { name: _name, ...unnamed } = metadata;
      await client.create(jobs, { metadata: { ...unnamed, generateName: "copy-" }, spec } as Job);
      return { requeueAfterMs: 1 };
    });
  const { stop, metric } = run(operator, { transport: lateWatches(server.transport, clock) });
  await clock.advance(5_000);
  await createBackup("nightly");
  await clock.advance(60_000);
  expect((await client.resource(jobs).list()).items).toHaveLength(1);
  expect(looks).toBeGreaterThan(1);
  // Waiting for the cache is no reconcile: it counts neither as a reconcile nor as a failure.
  expect(await metric("controller_runtime_reconcile_total")).toContain(
    'controller_runtime_reconcile_total{controller="backup",result="error"} 0',
  );
  await stop();
});

test("what a reconcile has deleted is gone from the cache before the next one of its key", async () => {
  const { clock, client, server, run, createBackup } = await startServer();
  await createBackup("nightly");
  await client
    .resource(jobs)
    .create({ ...jobOf(await client.resource(backups).get("nightly", { namespace: "default" })) });
  const operator = createOperator({ name: "backup-operator", leaderElection: false });
  const seen: boolean[] = [];
  operator
    .controllerFor(backups)
    .owns(jobs)
    .reconcile(async ({ object, cache, client }) => {
      const [job] = cache.controlledBy(jobs, object);
      seen.push(job !== undefined);
      if (job === undefined) return {};
      await client.delete(jobs, job);
      return { requeueAfterMs: 1 };
    });
  const { stop } = run(operator, { transport: lateWatches(server.transport, clock) });
  await clock.advance(60_000);
  expect(seen.filter((isThere) => isThere)).toHaveLength(1);
  expect(seen.at(-1)).toBe(false);
  await stop();
});
