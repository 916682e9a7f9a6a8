import type { Job, JobSpec, Pod } from "@kubewright/api";
import { mutableCopy } from "@kubewright/api";
import { expect, test } from "vitest";

import { T0, at, conditionsOf, failed, indexed, job, plan, pod, succeeded } from "../test/fixtures.js";
import { KEY, SyncBench } from "../test/sync-bench.js";
import type { PodObject } from "./job-spec.js";

const STEADY = { startTime: at(-60), ready: 0, terminating: 0, uncountedTerminatedPods: {} };
const withMetadata = (original: PodObject, metadata: Partial<Pod["metadata"]>): PodObject => {
  const copy = mutableCopy(original) as Pod;
  Object.assign(copy.metadata, metadata);
  return copy;
};
const many = (count: number, make: (name: string) => PodObject): PodObject[] =>
  Array.from({ length: count }, (_, number) => make(`p${String(number).padStart(4, "0")}`));
const countOf = (calls: readonly string[], method: string): number =>
  calls.filter((call) => call.startsWith(method)).length;

test("one pod runs and one has succeeded of five: one is created, and the success counted", async () => {
  const bench = new SyncBench(job({ parallelism: 2, completions: 5 }, { status: { ...STEADY, active: 2 } }), [
    pod("r"),
    succeeded("s"),
  ]);
  await bench.sync();
  expect(bench.calls).toEqual(["POST job-", "PUT status", "PATCH s", "PUT status"]);
  expect(bench.written?.status).toMatchObject({ active: 2, succeeded: 1 });
  expect(bench.decisions[0]?.action).toBe("pods_created");
});

test("three run while two of four have succeeded: one is removed, none created, and both successes counted", async () => {
  const bench = new SyncBench(job({ parallelism: 3, completions: 4 }, { status: { ...STEADY, active: 3 } }), [
    pod("a"),
    pod("b"),
    pod("c", { createdAt: 1 }),
    succeeded("s"),
    succeeded("t"),
  ]);
  await bench.sync();
  expect(bench.calls).toEqual(["PATCH c", "DELETE c", "PUT status", "PATCH s", "PATCH t", "PUT status"]);
  expect(bench.written?.status).toMatchObject({ active: 2, terminating: 1, succeeded: 2 });
});

test("without parallelism nothing is created, the status written once, and nothing complete", async () => {
  const bench = new SyncBench(job({ parallelism: 0, completions: 1 }));
  await bench.sync();
  expect(bench.calls).toEqual(["PUT status"]);
  expect(bench.written?.status).toEqual({ startTime: at(0), ready: 0, terminating: 0, uncountedTerminatedPods: {} });
  bench.catchUp();
  await bench.sync();
  expect(bench.calls).toEqual([]);
});

test("no completions wanted: the success is recorded first, the end with its time after", async () => {
  const bench = new SyncBench(job({ completions: 0 }));
  await bench.sync();
  expect(bench.calls).toEqual(["PUT status", "PUT status"]);
  const [first, second] = bench.bodies as Job[];
  expect(conditionsOf(first?.status)).toEqual(["SuccessCriteriaMet=True CompletionsReached"]);
  expect(first?.status?.completionTime).toBeUndefined();
  expect(conditionsOf(second?.status).at(-1)).toBe("Complete=True CompletionsReached");
  expect(second?.status?.completionTime).toBe(at(0));
});

test("a pod whose finalizer is removed is neither counted nor patched again while the cache shows its finalizer", async () => {
  const bench = new SyncBench(job({ completions: 3 }, { status: { ...STEADY, active: 1 } }), [
    succeeded("s"),
    pod("r"),
  ]);
  await bench.sync();
  expect(bench.calls).toContain("PATCH s");
  bench.catchUp();
  await bench.sync();
  expect(bench.calls).toEqual([]);
  expect([...bench.memory.finalizers.expectedUIDs(KEY)]).toEqual(["uid-s"]);
});

test("what pods were written as must be read back too; a bookmark is enough, and an unreadable version is no reason", async () => {
  const bench = new SyncBench(job({ parallelism: 2 }));
  await bench.sync();
  bench.jobStore.bookmark("999");
  bench.podStore.bookmark("100");
  expect((await bench.sync())?.message).toBe(
    "read version: 100 is not as new as written version: 102 for group resource pods",
  );
  bench.podStore.bookmark("102");
  expect(await bench.sync()).toBeUndefined();
  for (const version of ["", "0x1", "0"]) {
    bench.memory.consistency.wroteAt(KEY, "job-uid", { group: "", resource: "pods" }, "500");
    bench.podStore.bookmark(version);
    expect(await bench.sync()).toBeUndefined();
  }
});

test("a released pod and a deleted pod need not be read back", async () => {
  const bench = new SyncBench(job({ parallelism: 0, completions: 3 }, { status: STEADY }), [
    pod("a", { labels: { other: "1" } }),
  ]);
  bench.jobStore.bookmark("1");
  bench.podStore.bookmark("1");
  await bench.sync();
  expect(bench.calls).toEqual(["PATCH a"]);
  expect(bench.memory.consistency.ensureReady(KEY)).toEqual({ ready: true });

  const ending = new SyncBench(job({ backoffLimit: 0 }, { status: { ...STEADY, active: 1 } }), [
    failed("f", { tracked: false }),
    pod("r", { tracked: false }),
  ]);
  const counted = { ...STEADY, active: 1, failed: 1 };
  ending.jobStore.update(job({ backoffLimit: 0 }, { status: counted }));
  ending.podStore.bookmark("1");
  await ending.sync();
  expect(ending.calls).toEqual(["DELETE r", "PUT status"]);
  ending.jobStore.bookmark("999");
  expect(ending.memory.consistency.ensureReady(KEY)).toEqual({ ready: true });
});

test.each<[string, Partial<Job["metadata"]>, string]>([
  ["is being deleted", { deletionTimestamp: at(5) }, "ns/job has just been deleted at "],
  ["was replaced", { uid: "new" }, "original Job ns/job is gone: got uid new, wanted job-uid"],
])("a Job that %s, as the server knows, adopts nothing", async (_, metadata, message) => {
  const bench = new SyncBench(job(), [pod("stray", { owned: false }), pod("other", { owned: false })]);
  bench.live = { ...(job() as Job), metadata: { ...(job() as Job).metadata, ...metadata } };
  expect((await bench.sync())?.message).toContain(message);
  expect(bench.calls).toEqual(["GET job"]);
});

test("a stray pod that is being deleted is not adopted", async () => {
  const bench = new SyncBench(job({ parallelism: 0 }, { status: STEADY }), [pod("s", { owned: false, deletedAt: 5 })]);
  expect(await bench.sync()).toBeUndefined();
  expect(bench.calls).toEqual([]);
});

test("six hundred ended pods are accounted for in two syncs", async () => {
  const spec = { completions: 1000, parallelism: 0 };
  const bench = new SyncBench(job(spec, { status: STEADY }), many(600, succeeded));
  await bench.sync();
  expect(countOf(bench.calls, "PATCH")).toBe(500);
  expect(bench.written?.status?.succeeded).toBe(500);
  bench.catchUp();
  await bench.sync();
  expect(countOf(bench.calls, "PATCH")).toBe(100);
  expect(bench.written?.status).toMatchObject({ succeeded: 600, uncountedTerminatedPods: {} });
});

test("a Job that has all it wants is complete only when the last of its pods is counted", async () => {
  const bench = new SyncBench(job({ completions: 600, parallelism: 600 }, { status: STEADY }), many(600, succeeded));
  await bench.sync();
  expect(conditionsOf(bench.written?.status)).toEqual(["SuccessCriteriaMet=True CompletionsReached"]);
  bench.catchUp();
  await bench.sync();
  expect(bench.written?.status).toMatchObject({ succeeded: 600 });
  expect(conditionsOf(bench.written?.status).at(-1)).toBe("Complete=True CompletionsReached");
});

test("a terminating pod counts as failed at once, and is replaced after the backoff", async () => {
  const bench = new SyncBench(job({}, { status: { ...STEADY, active: 1 } }), [pod("t", { deletedAt: 0 })]);
  await bench.sync();
  expect(bench.calls).toEqual(["PUT status", "PATCH t", "PUT status"]);
  expect(bench.written?.status).toMatchObject({ failed: 1, terminating: 1 });
  bench.catchUp();
  await bench.clock.advance(9_000);
  await bench.sync();
  expect(bench.calls).toEqual([]);
  await bench.clock.advance(1_000);
  await bench.sync();
  expect(bench.calls).toEqual(["POST job-", "PUT status"]);
});

test("a recorded failure is carried out though a success policy is met by now", async () => {
  const successPolicy = { rules: [{ succeededCount: 1 }] };
  const conditions = [{ type: "FailureTarget", status: "True", reason: "DeadlineExceeded", message: "late" }];
  const bench = new SyncBench(indexed(2, { successPolicy }, { status: { ...STEADY, conditions } }), [
    succeeded("s", { index: 0 }),
  ]);
  await bench.sync();
  expect(conditionsOf(bench.written?.status)).toEqual([
    "FailureTarget=True DeadlineExceeded",
    "Failed=True DeadlineExceeded",
  ]);
  expect(bench.events).toEqual(["Warning DeadlineExceeded: late"]);
});

test("restarts of init containers count toward the limit as well", () => {
  const template: JobSpec["template"] = { spec: { restartPolicy: "OnFailure", containers: [] } };
  const restarting = mutableCopy(pod("r", { restarts: 1 })) as Pod;
  restarting.status!.initContainerStatuses = [{ ...restarting.status!.containerStatuses![0]!, name: "setup" }];
  const reason = (backoffLimit: number) =>
    plan({ job: job({ backoffLimit, template }), pods: [restarting] }).end?.reason;
  expect([2, 3].map(reason)).toEqual(["BackoffLimitExceeded", undefined]);
});

test("the Job starts before it completes, and its condition is no earlier than its completion time", async () => {
  const bench = new SyncBench(job({ completions: 1 }, { status: { ...STEADY, active: 1 } }), [succeeded("s")]);
  await bench.sync();
  const { startTime, completionTime, conditions } = bench.written!.status!;
  const condition = Date.parse(conditions!.at(-1)!.lastTransitionTime!);
  expect(condition).toBeGreaterThanOrEqual(Date.parse(completionTime!));
  expect(Date.parse(completionTime!)).toBeGreaterThanOrEqual(Date.parse(startTime!));
});

test("a thousand pods are created in two syncs", async () => {
  const bench = new SyncBench(job({ parallelism: 1000, completions: 1000 }));
  await bench.sync();
  expect(countOf(bench.calls, "POST")).toBe(500);
  const cached = new SyncBench(bench.written, many(500, pod));
  await cached.sync();
  expect(countOf(cached.calls, "POST")).toBe(500);
  expect(cached.written?.status).toMatchObject({ active: 1000 });
});

test("the template's own name is of no account", async () => {
  const bench = new SyncBench(
    job({
      template: {
        metadata: { name: "mine", generateName: "my-", labels: { a: "b" } },
        spec: { restartPolicy: "Never", containers: [{ name: "main" }] },
      },
    }),
  );
  await bench.sync();
  expect(bench.calls[0]).toBe("POST job-");
  expect((bench.bodies[0] as Pod).metadata.name).toBeUndefined();
});

test("a pod's deletion cost does not matter", () => {
  const annotations = (cost: string) => ({ annotations: { "controller.kubernetes.io/pod-deletion-cost": cost } });
  const cheap = withMetadata(pod("cheap", { ready: true }), annotations("-100"));
  const dear = withMetadata(pod("dear"), annotations("100"));
  const { pods } = plan({ job: job({ parallelism: 1, completions: 5 }), pods: [cheap, dear] });
  expect(pods?.remove).toEqual([dear]);
});

test("while a failed pod waits for its backoff, those that run stay in the status", async () => {
  const bench = new SyncBench(job({ parallelism: 2, completions: 5 }, { status: { ...STEADY, active: 2, ready: 2 } }), [
    failed("f"),
    pod("r", { ready: true }),
  ]);
  await bench.sync();
  expect(bench.written?.status).toMatchObject({ active: 1, ready: 1, failed: 1 });
});

test("an elastic Job that grows gets its new index, and one that shrinks deletes the pods beyond, uncounted", async () => {
  const running = [0, 1, 2].map((index) => pod(`r${index}`, { index }));
  const grown = plan({ job: indexed(4, {}, { status: { ...STEADY, active: 3 } }), pods: running });
  expect(grown.pods?.create).toEqual([{ index: 3 }]);

  const bench = new SyncBench(
    indexed(1, {}, { status: { ...STEADY, active: 2, succeeded: 1, failed: 2, completedIndexes: "1" } }),
    [pod("a", { index: 0 }), pod("c", { index: 2 }), failed("d", { index: 2 })],
  );
  await bench.sync();
  expect(bench.calls).toEqual(["PATCH c", "DELETE c", "PUT status", "PATCH d"]);
  expect(bench.written?.status).toMatchObject({ active: 1, failed: 2, terminating: 1 });
  expect(bench.written?.status?.succeeded).toBeUndefined();
  expect(bench.written?.status?.completedIndexes).toBeUndefined();
});

test("the largest count of failures that fits is read, and a new controller waits for an index as the old one did", () => {
  const of = indexed(1, { backoffLimitPerIndex: 2 ** 31 - 1 });
  const retry = (failures: string | number, seconds: number) =>
    plan({ job: of, pods: [failed("a", { index: 0, failures })], nowMs: T0 + seconds * 1000 }).pods;
  expect(retry("2147483646", 600)?.create).toEqual([
    { index: 0, failureCounts: { failures: 2 ** 31 - 1, ignored: 0 } },
  ]);
  expect(retry("2147483647", 600)).toBeUndefined();
  expect(retry(1, 4)?.retryAfterMs).toBe(16_000);
});

test("a deadline that passes with nothing running ends the Job in one sync", async () => {
  const started = { ...STEADY, startTime: at(-15) };
  const bench = new SyncBench(job({ activeDeadlineSeconds: 10 }, { status: started }));
  await bench.sync();
  expect(bench.calls).toEqual(["PUT status", "PUT status"]);
  expect(conditionsOf(bench.written?.status)).toEqual([
    "FailureTarget=True DeadlineExceeded",
    "Failed=True DeadlineExceeded",
  ]);
  const running = new SyncBench(job({ activeDeadlineSeconds: 10 }, { status: { ...started, active: 1 } }), [pod("r")]);
  await running.sync();
  expect(running.calls).toEqual(["DELETE r", "PUT status", "PATCH r", "PUT status"]);
  expect(running.written?.status).toMatchObject({ failed: 1, terminating: 1 });
  expect(conditionsOf(running.written?.status)).toEqual(["FailureTarget=True DeadlineExceeded"]);
});

test("of two creations whose first is refused, neither is waited for", async () => {
  const bench = new SyncBench(job({ parallelism: 2 }));
  bench.refuse = (call) => (call.startsWith("POST") ? { code: 500 } : undefined);
  expect((await bench.sync())?.message).toBe("POST job- refused");
  expect(bench.memory.expectations.getExpectations(KEY)).toMatchObject({ add: 0, del: 0 });
});
