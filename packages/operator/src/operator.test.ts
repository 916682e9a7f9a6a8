import { jobs } from "@kubewright/api";
import { expect, test } from "vitest";

import { backups, jobOf } from "../test/backups.js";
import { place, startServer } from "../test/operator-harness.js";
import { createOperator } from "./index.js";

test("an operator brings objects to where they should be, and looks again when what they own changes", async () => {
  const operator = createOperator({ name: "backup-operator" });
  operator
    .controllerFor(backups)
    .owns(jobs)
    .reconcile(async ({ object, cache, client, events }) => {
      const job = cache.get(jobs, object.metadata.name!, object.metadata.namespace);
      if (job === undefined) {
        await client.create(jobs, jobOf(object));
        events.normal("Started", "Created a Job");
      }
      const phase = job === undefined ? "Starting" : "Running";
      await client.patchStatus(backups, object, { phase });
    });
  const { clock, client, run, createBackup, get, reportedEvents } = await startServer();
  await createBackup("early");
  const { stop, lines } = run(operator);
  await clock.advance(5_000);
  await createBackup("late");
  await clock.advance(5_000);
  for (const name of ["early", "late"]) {
    expect((await get(backups, name)).status).toEqual({ phase: "Running" });
    expect((await get(jobs, name)).metadata.ownerReferences).toMatchObject([
      { kind: "Backup", name, controller: true },
    ]);
  }
  await client.resource(jobs).delete("early", { ...place, propagationPolicy: "Background" });
  await clock.advance(5_000);
  expect((await get(jobs, "early")).metadata.deletionTimestamp).toBeUndefined();
  expect(await reportedEvents()).toEqual([
    "backup-operator: Normal Started Created a Job",
    "backup-operator: Normal Started Created a Job",
  ]);
  expect(await stop()).toBe("stopped");
  expect(lines.filter((line) => (line as { level: string }).level !== "info")).toEqual([]);
  expect(clock.keepAliveCount).toBe(0);
});
