import type { StatusError } from "@kubewright/client";
import { expect, test } from "vitest";

import { backups } from "../test/backups.js";
import { place, startServer } from "../test/operator-harness.js";
import { createOperator } from "./index.js";

const FINALIZER = "example.com/copies";

test("a finalizer is put on before the first reconcile, and taken off when what it stands for is undone", async () => {
  const { clock, client, run, createBackup, get } = await startServer();
  const operator = createOperator({ name: "keeper", leaderElection: false });
  const calls: string[] = [];
  let copies = 2;
  operator
    .controllerFor(backups)
    .finalizer(FINALIZER, async ({ object }) => {
      calls.push(`undo ${object.metadata.name}, ${copies} left`);
      if (copies === 2) {
        copies--;
        throw new Error("unreachable");
      }
      return copies-- > 0 ? { requeueAfterMs: 5_000 } : {};
    })
    .reconcile(
      async ({ object }) => void calls.push(`do ${object.metadata.name} ${String(object.metadata.finalizers)}`),
    );
  const { stop } = run(operator);
  await createBackup("a", {}, { finalizers: ["example.com/others"] });
  await clock.advance(1_000);
  expect(new Set(calls)).toEqual(new Set([`do a example.com/others,${FINALIZER}`]));
  calls.length = 0;
  await client.resource(backups).delete("a", place);
  await clock.advance(1_000);
  expect(calls).toEqual(["undo a, 2 left", "undo a, 1 left"]);
  expect((await get(backups, "a")).metadata.finalizers).toEqual(["example.com/others", FINALIZER]);
  await clock.advance(10_000);
  expect(calls).toHaveLength(3);
  expect((await get(backups, "a")).metadata.finalizers).toEqual(["example.com/others"]);
  await stop();
});

test("a finalizer that another client adds or removes meanwhile is not lost", async () => {
  const { clock, client, run, createBackup, get } = await startServer();
  const operator = createOperator({ name: "keeper", leaderElection: false });
  const refusals: unknown[] = [];
  operator.controllerFor(backups).reconcile(async ({ object, client: own, clock }) => {
    if (object.metadata.finalizers?.includes(FINALIZER)) return;
    await clock.sleep(1_000);
    await own.addFinalizer(backups, object, FINALIZER).catch((error: unknown) => {
      refusals.push((error as StatusError).status.reason);
      throw error;
    });
  });
  const { stop } = run(operator);
  await createBackup("a");
  await clock.advance(500);
  await client
    .resource(backups)
    .patch("a", { type: "merge", body: { metadata: { finalizers: ["example.com/others"] } } }, place);
  await clock.advance(10_000);
  expect(refusals).toEqual(["Conflict"]);
  expect((await get(backups, "a")).metadata.finalizers).toEqual(["example.com/others", FINALIZER]);
  await stop();
});
