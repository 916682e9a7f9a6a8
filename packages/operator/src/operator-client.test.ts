import { configMaps, jobs } from "@kubewright/api";
import { expect, test } from "vitest";

import { type Backup, backups, jobOf } from "../test/backups.js";
import { place, startServer } from "../test/operator-harness.js";
import { type ReconcileRequest, createOperator, setCondition } from "./index.js";

/** Runs a function in one reconcile, and returns its result with the writes that it sent. */
async function inReconcile<R>(work: (request: ReconcileRequest<Backup>) => Promise<R>, { isCached = true } = {}) {
  const bench = await startServer();
  const { clock, run, createBackup } = bench;
  const operator = createOperator({ name: "backup-operator", leaderElection: false });
  const results: R[] = [];
  const controller = operator.controllerFor(backups);
  if (isCached) controller.reads(configMaps);
  controller.reconcile(async (request) => {
    if (results.length === 0) results.push(await work(request));
  });
  await createBackup("nightly");
  const running = run(operator);
  await clock.advance(30_000);
  const errors = running.lines.filter((line) => (line as { level: string }).level === "error");
  await running.stop();
  expect(errors).toEqual([]);
  return { ...bench, result: results[0]!, writes: running.writes() };
}

test("a status that is said already is not sent", async () => {
  const { writes, get } = await inReconcile(async ({ object, client, now }) => {
    const unchanged = await client.patchStatus(backups, object, {
      phase: "Running",
      conditions: setCondition(object, { type: "Ready", status: "False", reason: "Copying" }, now),
    });
    const again = await client.patchStatus(backups, unchanged, {
      phase: "Running",
      conditions: setCondition(unchanged, { type: "Ready", status: "False", reason: "Copying" }, now + 60_000),
    });
    expect(again).toBe(unchanged);
    await client.patchStatus(backups, again, { job: null });
    return again;
  });
  expect(writes).toEqual(["PATCH /apis/example.com/v1/namespaces/default/backups/nightly/status"]);
  expect((await get(backups, "nightly")).status).toMatchObject({
    phase: "Running",
    conditions: [{ type: "Ready", status: "False", reason: "Copying", observedGeneration: 1 }],
  });
});

test("what is applied is the operator's, and what it applies no more is removed", async () => {
  const { client } = await inReconcile(async ({ client }) => {
    await client.apply(configMaps, { metadata: { name: "settings", ...place }, data: { a: "1", b: "2" } });
    await client.apply(configMaps, { metadata: { name: "settings", ...place }, data: { a: "3" } });
  });
  const { data, metadata } = await client.resource(configMaps).get("settings", place);
  expect(data).toEqual({ a: "3" });
  expect(metadata.managedFields).toMatchObject([{ manager: "backup-operator", operation: "Apply" }]);
});

test.each([true, false])("createOrUpdate writes only what is not so (cached: %s)", async (isCached) => {
  const { result, writes, client } = await inReconcile(
    async ({ client, clock }) => {
      const ensure = (data: Record<string, string>) =>
        client.createOrUpdate(configMaps, { metadata: { name: "settings", ...place } }, (current) => ({
          ...current,
          metadata: { ...current?.metadata, name: "settings", ...place },
          data: { ...current?.data, ...data },
        }));
      const operations: string[] = [];
      for (const data of [{ a: "1" }, { a: "1" }, { b: "2" }]) {
        operations.push((await ensure(data)).operation);
        // Until the cache has the object.
        await clock.sleep(1_000);
      }
      return operations;
    },
    { isCached },
  );
  expect(result).toEqual(["created", "unchanged", "updated"]);
  expect(writes).toHaveLength(2);
  expect((await client.resource(configMaps).get("settings", place)).data).toEqual({ a: "1", b: "2" });
});

test("deleting a missing object is no error, and another object of that name is not deleted", async () => {
  const { client } = await inReconcile(async ({ object, client }) => {
    await client.delete(jobs, { metadata: { name: "none", ...place } });
    const job = await client.create(jobs, jobOf(object));
    await expect(client.delete(jobs, { metadata: { ...job.metadata, uid: "another" } })).rejects.toThrow(
      /Operation cannot be fulfilled on/,
    );
    await client.delete(jobs, job);
  });
  expect((await client.resource(jobs).list()).items).toEqual([]);
});
