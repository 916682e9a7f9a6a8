import { configMaps } from "@kubewright/api";
import { expect, test } from "vitest";

import { backups } from "../test/backups.js";
import { place, startServer } from "../test/operator-harness.js";
import { type ReconcileRequest, TerminalError, createOperator } from "./index.js";
import type { Backup } from "../test/backups.js";

type Reconcile = (request: ReconcileRequest<Backup>) => Promise<{ requeueAfterMs: number } | void>;

function alone(reconcile: Reconcile, options = {}) {
  const operator = createOperator({ name: "alone", leaderElection: false });
  operator.controllerFor(backups, options).reconcile(reconcile);
  return operator;
}

test("a key is looked at again when that was asked for", async () => {
  const { clock, run, createBackup } = await startServer();
  const times: number[] = [];
  const start = clock.now();
  const { stop } = run(
    alone(async ({ now }) => {
      times.push((now - start) / 1000);
      return { requeueAfterMs: 60_000 };
    }),
  );
  await createBackup("a");
  await clock.advance(150_000);
  expect(times).toEqual([0, 60, 120]);
  await stop();
});

test("a failed reconcile is retried with back-off, one with a terminal error is not, and both are counted", async () => {
  const { clock, run, createBackup } = await startServer();
  const tries: Record<string, number> = { flaky: 0, hopeless: 0 };
  const { stop, lines, metric } = run(
    alone(
      async ({ name }) => {
        tries[name] = tries[name]! + 1;
        if (name === "hopeless") throw new TerminalError("cannot be");
        if (tries[name] < 4) throw new Error("not yet");
      },
      { backoff: { baseDelayMs: 1_000 } },
    ),
  );
  await createBackup("flaky");
  await createBackup("hopeless");
  await clock.advance(3_500);
  expect(tries).toEqual({ flaky: 3, hopeless: 1 });
  await clock.advance(60_000);
  expect(tries).toEqual({ flaky: 4, hopeless: 1 });
  expect(lines.filter((line) => (line as { level: string }).level === "error")).toEqual([
    expect.objectContaining({ controller: "backup", key: "default/flaky", err: "not yet", willRetry: true }),
    expect.objectContaining({ controller: "backup", key: "default/hopeless", err: "cannot be", willRetry: false }),
    expect.objectContaining({ key: "default/flaky" }),
    expect.objectContaining({ key: "default/flaky" }),
  ]);
  expect(await metric("controller_runtime_reconcile_total")).toEqual([
    'controller_runtime_reconcile_total{controller="backup",result="error"} 4',
    'controller_runtime_reconcile_total{controller="backup",result="requeue_after"} 0',
    'controller_runtime_reconcile_total{controller="backup",result="requeue"} 0',
    'controller_runtime_reconcile_total{controller="backup",result="success"} 1',
  ]);
  expect(await metric("controller_runtime_reconcile_errors_total")).toEqual([
    'controller_runtime_reconcile_errors_total{controller="backup"} 4',
  ]);
  expect(await metric("controller_runtime_terminal_reconcile_errors_total")).toEqual([
    'controller_runtime_terminal_reconcile_errors_total{controller="backup"} 1',
  ]);
  expect(await metric('workqueue_adds_total{name="backup"}')).toHaveLength(1);
  expect(await metric('rest_client_requests_total{code="200"')).not.toHaveLength(0);
  await stop();
});

test("retries of all keys together are limited where that is asked for", async () => {
  const { clock, run, createBackup } = await startServer();
  const failed = new Set<string>();
  const retried: number[] = [];
  const backoff = { baseDelayMs: 1, rateLimit: { qps: 1, burst: 1 } };
  const { stop } = run(
    alone(
      async ({ name, now }) => {
        if (failed.has(name)) retried.push(now);
        else {
          failed.add(name);
          throw new Error("not yet");
        }
      },
      { backoff, workers: 5 },
    ),
  );
  for (const name of ["a", "b", "c", "d"]) await createBackup(name);
  await clock.advance(10_000);
  const pauses = retried.slice(1).map((time, index) => time - retried[index]!);
  expect(pauses).toHaveLength(3);
  for (const pause of pauses) expect(Math.abs(pause - 1_000)).toBeLessThan(10);
  await stop();
});

test("workers that are none are refused, and nothing is left running", async () => {
  const { clock, run } = await startServer();
  const { running } = run(alone(async () => undefined, { workers: 0 }));
  await clock.advance(1_000);
  expect(await running).toBe("backup: workers must be a whole number from 1 on, not 0");
  expect(clock.keepAliveCount).toBe(0);
});

test("the configured number of workers run concurrently, at most one for each key", async () => {
  const { clock, run, createBackup } = await startServer();
  let max = 0;
  const atWork = new Set<string>();
  const { stop, metric } = run(
    alone(
      async ({ key, clock }) => {
        expect(atWork.has(key)).toBe(false);
        atWork.add(key);
        max = Math.max(max, atWork.size);
        await clock.sleep(10_000);
        atWork.delete(key);
      },
      { workers: 3 },
    ),
  );
  for (const name of ["a", "b", "c", "d"]) await createBackup(name);
  await clock.advance(1_000);
  expect(await metric("controller_runtime_active_workers")).toEqual([
    'controller_runtime_active_workers{controller="backup"} 3',
  ]);
  expect(await metric("controller_runtime_max_concurrent_reconciles")).toEqual([
    'controller_runtime_max_concurrent_reconciles{controller="backup"} 3',
  ]);
  await clock.advance(60_000);
  expect(max).toBe(3);
  expect(await metric("controller_runtime_reconcile_time_seconds_sum")).toEqual([
    'controller_runtime_reconcile_time_seconds_sum{controller="backup"} 40',
  ]);
  await stop();
});

test("a reconcile that takes too long is aborted and retried", async () => {
  const { clock, run, createBackup } = await startServer();
  let tries = 0;
  const { stop, lines, metric } = run(
    alone(
      async ({ clock, signal }) => {
        if (++tries === 1) await clock.sleep(3_600_000, signal);
      },
      { reconcileTimeoutMs: 5_000 },
    ),
  );
  await createBackup("slow");
  await clock.advance(4_900);
  expect(tries).toBe(1);
  await clock.advance(1_000);
  expect(tries).toBe(2);
  expect(lines).toContainEqual(expect.objectContaining({ err: "reconciling default/slow took longer than 5 s" }));
  expect(await metric("controller_runtime_reconcile_timeouts_total")).toEqual([
    'controller_runtime_reconcile_timeouts_total{controller="backup"} 1',
  ]);
  await stop();
  expect(clock.pendingTimers).toBe(0);
});

test("stopping waits for what is under way, but not for ever, and names what it leaves behind", async () => {
  const { clock, run, createBackup } = await startServer();
  const operator = createOperator({ name: "alone", leaderElection: false, stopTimeoutMs: 10_000 });
  const ended: string[] = [];
  operator.controllerFor(backups, { workers: 2 }).reconcile(async ({ name, clock }) => {
    await clock.sleep(name === "short" ? 8_000 : 3_600_000);
    ended.push(name);
  });
  const { stopping, running } = run(operator);
  await createBackup("short");
  await createBackup("endless");
  await clock.advance(1_000);
  stopping.abort();
  await clock.advance(8_000);
  expect(ended).toEqual(["short"]);
  await clock.advance(5_000);
  expect(await running).toBe("backup: reconciling default/endless did not end within 10 s of the stop signal");
});

test("a deleted or terminating object is not reconciled; the gone handler is called once", async () => {
  const { clock, client, run, createBackup } = await startServer();
  const operator = createOperator({ name: "alone", leaderElection: false });
  const seen: string[] = [];
  operator
    .controllerFor(backups)
    .whenGone(({ key }) => void seen.push(`${key} is gone`))
    .reconcile(({ key }) => void seen.push(key));
  await createBackup("held", {}, { finalizers: ["example.com/others"] });
  await createBackup("short");
  const { stop } = run(operator);
  await clock.advance(1_000);
  seen.length = 0;
  for (const name of ["held", "short"]) await client.resource(backups).delete(name, place);
  await clock.advance(1_000);
  expect(seen).toEqual(["default/short is gone"]);
  await client.resource(backups).patch("held", { type: "merge", body: { metadata: { finalizers: null } } }, place);
  await clock.advance(1_000);
  expect(seen).toEqual(["default/short is gone", "default/held is gone"]);
  await stop();
});

test("a terminating object is reconciled with `whileTerminating`, and again when the result requests it", async () => {
  const { clock, client, run, createBackup } = await startServer();
  const seen: boolean[] = [];
  const { stop } = run(
    alone(
      async ({ object }) => {
        seen.push(object.metadata.deletionTimestamp !== undefined);
        return { requeueAfterMs: 60_000 };
      },
      { whileTerminating: true },
    ),
  );
  await createBackup("held", {}, { finalizers: ["example.com/others"] });
  await clock.advance(1_000);
  await client.resource(backups).delete("held", place);
  await clock.advance(120_000);
  expect(seen).toEqual([false, true, true, true]);
  await stop();
});

test("lines of the log say which controller, object and reconcile they come from", async () => {
  const { clock, run, createBackup } = await startServer();
  const { stop, lines } = run(alone(async ({ log }) => log.info({ step: 1 }, "Looking")));
  await createBackup("a");
  await clock.advance(1_000);
  expect(lines).toContainEqual({
    level: "info",
    message: "Looking",
    controller: "backup",
    namespace: "default",
    name: "a",
    reconcileID: expect.stringMatching(/^[0-9a-f-]{36}$/),
    step: 1,
  });
  await stop();
});

test("an operator's own metrics are created in the registry of each run", async () => {
  const { clock, run, createBackup } = await startServer();
  const operator = createOperator({
    name: "counting",
    leaderElection: false,
    metrics: (families) => ({ seen: families.counter({ name: "backups_seen_total", help: "Backups seen" }) }),
  });
  operator.controllerFor(backups).reconcile(async ({ metrics }) => metrics.seen.inc());
  await createBackup("a");
  const [one, other] = [run(operator), run(operator)];
  await clock.advance(1_000);
  expect(await one.metric("backups_seen_total")).toEqual(["backups_seen_total 1"]);
  expect(await other.metric("backups_seen_total")).toEqual(["backups_seen_total 1"]);
  await one.stop();
  await other.stop();
});

test("a task runs while the operator leads, or always, and what it fails with stops the operator", async () => {
  const { clock, client, run } = await startServer();
  const operator = createOperator({ name: "busy" });
  operator
    .controllerFor(backups)
    .reads(configMaps)
    .reconcile(() => undefined);
  const calls: string[] = [];
  operator.add({
    name: "sweeper",
    run: async ({ client, cache }) => {
      calls.push(`sweeps ${cache.list(backups).length}`);
      await client.create(configMaps, { metadata: { name: "swept", ...place } });
    },
  });
  operator.add({
    name: "listener",
    whileStandingBy: true,
    run: async ({ client, clock, signal, namespace }) => {
      calls.push(`listens in ${namespace}`);
      // Also while another replica leads.
      await client.apply(configMaps, { metadata: { name: "heard", ...place } });
      calls.push("heard");
      await clock.sleep(60_000, signal);
      throw new Error("deaf");
    },
  });
  const first = run(operator);
  await clock.advance(1_000);
  expect(calls).toEqual(["listens in default", "heard", "sweeps 0"]);
  const second = run(operator);
  await clock.advance(1_000);
  expect(calls).toEqual(["listens in default", "heard", "sweeps 0", "listens in default", "heard"]);
  expect((await client.resource(configMaps).get("swept", place)).metadata.name).toBe("swept");
  expect(await second.stop()).toBe("stopped");
  await clock.advance(60_000);
  expect(await first.running).toBe("deaf");
});

test("a wrong declaration of an operator is reported", () => {
  expect(() => createOperator({ name: "Backup Operator" })).toThrow(
    'an operator\'s name must be a DNS name such as "backup-operator", not "Backup Operator"',
  );
  const operator = createOperator({ name: "twice" });
  operator.controllerFor(backups).reconcile(() => undefined);
  expect(() => operator.controllerFor(backups).reconcile(() => undefined)).toThrow(
    'twice has a controller "backup" already: give one of them another name',
  );
  expect(() => operator.controllerFor(backups).finalizer("cleanup", () => undefined)).toThrow(
    'finalizer "cleanup" needs a domain of yours before a slash: "example.com/cleanup"',
  );
});
