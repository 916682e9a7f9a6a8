import { expect, test } from "vitest";

import { backups } from "../test/backups.js";
import { place, startServer } from "../test/operator-harness.js";
import { createOperator } from "./index.js";

test("a controller without a reconciler is an error when the operator starts", async () => {
  const { run } = await startServer();
  const operator = createOperator({ name: "keeper" });
  operator.controllerFor(backups, { name: "copies" });
  expect(await run(operator).running).toBe(
    'controller "copies" of keeper has no reconciler: end its declaration with .reconcile(…)',
  );
});

test("events from outside enqueue keys, names and objects until the controller stops", async () => {
  const { clock, run, createBackup } = await startServer();
  const operator = createOperator({ name: "keeper", leaderElection: false });
  const seen: string[] = [];
  let ended = 0;
  operator
    .controllerFor(backups)
    .watchesEvents("ticker", async ({ enqueue, clock: own, signal }) => {
      for (;;) {
        await own.sleep(10_000, signal);
        enqueue({ name: "a", namespace: "default" });
      }
    })
    .watchesEvents("messages", async function* ({ clock: own }) {
      try {
        await own.sleep(2_000);
        yield { metadata: { name: "b", namespace: "default" } };
        await own.sleep(1_000_000);
      } finally {
        ended++;
      }
    })
    .reconcile(({ name }) => void seen.push(name));
  for (const name of ["a", "b"]) await createBackup(name);
  const { stop } = run(operator);
  await clock.advance(1_000);
  seen.length = 0;
  await clock.advance(20_000);
  expect(seen).toEqual(["b", "a", "a"]);
  expect(await stop()).toBe("stopped");
  await clock.advance(1_000_000);
  expect(seen).toEqual(["b", "a", "a"]);
  expect(ended).toBe(1);
});

test("an event source that fails ends the operator with its name", async () => {
  const { clock, run } = await startServer();
  const operator = createOperator({ name: "keeper", leaderElection: false });
  operator
    .controllerFor(backups)
    .watchesEvents("messages", () => Promise.reject(new Error("queue unreachable")))
    .reconcile(() => {});
  const { running } = run(operator);
  await clock.advance(60_000);
  expect(await running).toBe("event source messages of controller backup failed: queue unreachable");
});

test("several finalizers are added in one write, and their cleanups run in order, each until it succeeds", async () => {
  const { clock, client, run, createBackup, get } = await startServer();
  const operator = createOperator({ name: "keeper", leaderElection: false });
  const calls: string[] = [];
  let isEmpty = false;
  operator
    .controllerFor(backups)
    .finalizer("example.com/copies", () => void calls.push("copies"))
    .finalizer("example.com/bucket", async () => {
      calls.push("bucket");
      return isEmpty ? {} : { requeueAfterMs: 10_000 };
    })
    .reconcile(() => {});
  const { stop, writes } = run(operator);
  await createBackup("a");
  await clock.advance(1_000);
  expect((await get(backups, "a")).metadata.finalizers).toEqual(["example.com/copies", "example.com/bucket"]);
  expect(writes().filter((write) => write.startsWith("PATCH"))).toHaveLength(1);
  await client.resource(backups).delete("a", place);
  await clock.advance(1_000);
  // The write that removes the first finalizer is a change, too.
  expect(calls).toEqual(["copies", "bucket", "bucket"]);
  expect((await get(backups, "a")).metadata.finalizers).toEqual(["example.com/bucket"]);
  isEmpty = true;
  await clock.advance(20_000);
  expect(calls).toEqual(["copies", "bucket", "bucket", "bucket"]);
  await expect(get(backups, "a")).rejects.toThrow("not found");
  expect(() =>
    operator
      .controllerFor(backups)
      .finalizer("example.com/x", () => {})
      .finalizer("example.com/x", () => {}),
  ).toThrow("backup has finalizer example.com/x already: give each a name of its own");
  await stop();
});
