import { type DeepReadonly, JOB_TRACKING_FINALIZER, type Job, jobs, pods } from "@kubewright/api";
import { describe, expect, test } from "vitest";

import { type Exit, startManager } from "./manager-process.js";
import { type ProxyHooks, type SeenRequest, startProxy } from "./proxy.js";
import type { Scope } from "./scope.js";
import { type TestCluster, job, jobWithCondition, runPods, startCluster } from "./test-cluster.js";

const FLAGS = ["--leader-elect=false", "--controllers=job"];

/** Returns whether a request is a write that affects counting, which events do not. */
function isWrite({ method, path }: SeenRequest): boolean {
  return method !== "GET" && !path.includes("/events");
}

/** Records every status of the Job. */
function recordStatuses(scope: Scope, { client }: TestCluster, name: string): DeepReadonly<Job>["status"][] {
  const stop = new AbortController();
  scope.onTestFinished(() => stop.abort());
  const statuses: DeepReadonly<Job>["status"][] = [];
  const watch = async (): Promise<void> => {
    const events = await client
      .resource(jobs)
      .watch({ namespace: "default", fieldSelector: `metadata.name=${name}`, signal: stop.signal });
    for await (const event of events) if (event.type !== "ERROR") statuses.push(event.object.status);
  };
  void watch().catch(() => undefined);
  return statuses;
}

/** Checks that the Job is complete, and that exactly four pods were each counted once. */
async function expectCountedExactly(
  cluster: TestCluster,
  name: string,
  statuses: readonly DeepReadonly<Job>["status"][],
): Promise<void> {
  const finished = await jobWithCondition(cluster.client, name, "Complete");
  expect(finished.status).toMatchObject({ succeeded: 4 });
  expect(finished.status?.failed ?? 0).toBe(0);
  expect(finished.status?.active ?? 0).toBe(0);
  expect(finished.status?.uncountedTerminatedPods ?? {}).toEqual({});
  const { items } = await cluster.client
    .resource(pods)
    .list({ namespace: "default", labelSelector: `job-name=${name}` });
  expect(items.map((pod) => pod.status?.phase)).toEqual(Array(4).fill("Succeeded"));
  expect(items.filter((pod) => pod.metadata.finalizers?.includes(JOB_TRACKING_FINALIZER))).toEqual([]);

  const uids = new Set(items.map((pod) => pod.metadata.uid));
  let counted = 0;
  for (const status of statuses) {
    const succeeded = status?.succeeded ?? 0;
    const uncounted = status?.uncountedTerminatedPods?.succeeded ?? [];
    expect(succeeded).toBeGreaterThanOrEqual(counted);
    expect(succeeded + uncounted.length).toBeLessThanOrEqual(4);
    expect(uncounted.filter((uid) => !uids.has(uid))).toEqual([]);
    counted = succeeded;
  }
}

const KILLED = { code: null, signal: "SIGKILL" };

/** Runs a Job of four pods, two at a time, until `kill` is called. */
async function runUntilKilled(
  scope: Scope,
  name: string,
  hooksFor: (kill: () => void) => ProxyHooks,
): Promise<{ exit: Exit; cluster: TestCluster; statuses: DeepReadonly<Job>["status"][] }> {
  const cluster = await startCluster(scope);
  runPods(scope, cluster.client, 100);
  const statuses = recordStatuses(scope, cluster, name);
  const url = await startProxy(
    scope,
    cluster.url,
    hooksFor(() => manager.kill("SIGKILL")),
  );
  const manager = startManager(scope, [`--master=${url}`, ...FLAGS]);
  await cluster.client.resource(jobs).create(job(name, { completions: 4, parallelism: 2 }));
  // If the Job needs fewer writes than usual, the manager is killed when nothing is left to do.
  void jobWithCondition(cluster.client, name, "Complete").then(() => manager.kill("SIGKILL"));
  return { exit: await manager.exit, cluster, statuses };
}

/** Calls `kill` on the nth write. Returns whether a request is that write or a later one. */
function countdown(nth: number, kill: () => void): (request: SeenRequest) => boolean {
  let count = 0;
  return (request) => {
    if (!isWrite(request)) return false;
    if (++count === nth) kill();
    return count >= nth;
  };
}

describe.concurrent("a Job of four pods, two at a time, whose controller is killed", () => {
  const writes = Array.from({ length: 13 }, (_, index) => index + 1);

  test.for(writes)("once write %i was carried out, but not answered, has each pod counted once", async (nth, scope) => {
    const { exit, cluster, statuses } = await runUntilKilled(scope, "pi", (kill) => ({ after: countdown(nth, kill) }));
    expect(exit).toEqual(KILLED);
    startManager(scope, [`--master=${cluster.url}`, ...FLAGS]);
    await expectCountedExactly(cluster, "pi", statuses);
  });

  test.for(writes)("before write %i reaches the API server has each pod counted once", async (nth, scope) => {
    const { exit, cluster, statuses } = await runUntilKilled(scope, "pi", (kill) => {
      const isLost = countdown(nth, kill);
      return { before: (request) => !isLost(request) };
    });
    expect(exit).toEqual(KILLED);
    startManager(scope, [`--master=${cluster.url}`, ...FLAGS]);
    await expectCountedExactly(cluster, "pi", statuses);
  });
});

test("pods that succeed while no controller runs are counted once by the next one", async (scope) => {
  const cluster = await startCluster(scope);
  const statuses = recordStatuses(scope, cluster, "asleep");
  let created = 0;
  const url = await startProxy(scope, cluster.url, {
    after: ({ method, path }) => {
      if (method === "POST" && path.endsWith("/pods") && ++created === 2) first.kill("SIGKILL");
    },
  });
  const first = startManager(scope, [`--master=${url}`, ...FLAGS]);
  await cluster.client.resource(jobs).create(job("asleep", { completions: 4, parallelism: 2 }));
  await first.exit;

  runPods(scope, cluster.client, 0);
  await expect
    .poll(async () =>
      (await cluster.client.resource(pods).list({ namespace: "default" })).items.map((pod) => pod.status?.phase),
    )
    .toEqual(["Succeeded", "Succeeded"]);
  expect((await cluster.client.resource(jobs).get("asleep", { namespace: "default" })).status?.succeeded ?? 0).toBe(0);
  startManager(scope, [`--master=${cluster.url}`, ...FLAGS]);
  await expectCountedExactly(cluster, "asleep", statuses);
});
