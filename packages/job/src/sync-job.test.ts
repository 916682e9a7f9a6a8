import { JOB_TRACKING_FINALIZER, type ObjectKey } from "@kubewright/api";
import { expect, test } from "vitest";

import { at, conditionsOf, failed, indexed, job, pod, succeeded } from "../test/fixtures.js";
import { KEY, SyncBench } from "../test/sync-bench.js";

const STEADY = { startTime: at(-60), ready: 0, terminating: 0, uncountedTerminatedPods: {} };
const INTERNAL = { code: 500, reason: "InternalError" };
const refusing =
  (refusal: { code: number; reason?: string; cause?: string }, ...calls: string[]) =>
  (call: string) =>
    calls.includes(call) ? refusal : undefined;

test("pods are created, then the status written once; a second sync does nothing", async () => {
  const bench = new SyncBench(job({ parallelism: 2, completions: 5 }));
  expect(await bench.sync()).toBeUndefined();
  expect(bench.calls).toEqual(["POST job-", "POST job-", "PUT status"]);
  expect(bench.events).toEqual([
    "Normal SuccessfulCreate: Created pod: job-0",
    "Normal SuccessfulCreate: Created pod: job-1",
  ]);
  expect(bench.memory.expectations.getExpectations(KEY)).toMatchObject({ add: 2, del: 0 });

  const steady = new SyncBench(job({ parallelism: 2, completions: 5 }, { status: { ...STEADY, active: 2 } }), [
    pod("a"),
    pod("b"),
  ]);
  expect(await steady.sync()).toBeUndefined();
  expect(steady.calls).toEqual([]);
  expect(steady.decisions).toMatchObject([
    { action: "tracking", statusWrites: 0, reasons: [{ type: "EnoughActive" }] },
  ]);
});

test("an ended pod is recorded, loses its finalizer and is counted, in this order", async () => {
  const bench = new SyncBench(job({ completions: 1 }, { status: { ...STEADY, active: 1 } }), [succeeded("s")]);
  await bench.sync();
  expect(bench.calls).toEqual(["PUT status", "PATCH s", "PUT status"]);
  expect(bench.bodies[1]).toEqual({ metadata: { "$deleteFromPrimitiveList/finalizers": [JOB_TRACKING_FINALIZER] } });
  expect(bench.bodies[0]).toMatchObject({ metadata: { resourceVersion: "1" } });
  expect(bench.bodies[2]).toMatchObject({ metadata: { resourceVersion: "101" } });
  expect(conditionsOf(bench.written?.status)).toEqual([
    "SuccessCriteriaMet=True CompletionsReached",
    "Complete=True CompletionsReached",
  ]);
  expect(bench.events).toEqual(["Normal Completed: Job completed"]);
});

test("a Job whose end is written is left alone until the cache shows it", async () => {
  const bench = new SyncBench(job({ completions: 1 }, { status: { ...STEADY, active: 1 } }), [succeeded("s")]);
  await bench.sync();
  bench.jobStore.bookmark("999");
  bench.podStore.bookmark("999");
  expect(await bench.sync()).toBeUndefined();
  expect(bench.calls).toEqual([]);
  expect(bench.memory.finished.size).toBe(1);
  bench.catchUp();
  expect(await bench.sync()).toBeUndefined();
  expect(bench.calls).toEqual([]);
  expect(bench.memory.finished.size).toBe(0);
});

test("what was written must be in the cache before the next sync", async () => {
  const bench = new SyncBench(job());
  await bench.sync();
  expect((await bench.sync())?.message).toBe(
    "read version: 1 is not as new as written version: 102 for group resource jobs.batch",
  );
  expect(bench.calls).toEqual([]);
  bench.catchUp();
  expect(await bench.sync()).toBeUndefined();
});

test("a conflict before the first write leaves everything for the next sync to do once", async () => {
  const bench = new SyncBench(job({ completions: 2, parallelism: 1 }, { status: STEADY }), [failed("f")]);
  bench.refuse = refusing({ code: 409, reason: "Conflict" }, "PUT status");
  const error = await bench.sync();
  expect(error?.message).toBe("tracking status: adding uncounted pods to status: PUT status refused");
  expect(bench.calls).toEqual(["PUT status"]);
  expect(bench.memory.backoff.size).toBe(0);
  bench.refuse = () => undefined;
  expect(await bench.sync()).toBeUndefined();
  expect(bench.written?.status).toMatchObject({ failed: 1 });
  expect(bench.memory.backoff.get(KEY)?.failuresAfterLastSuccess).toBe(1);
});

test("a finalizer that stays leaves its pod recorded, and the Job unfinished", async () => {
  const bench = new SyncBench(job({ completions: 2, parallelism: 2 }, { status: STEADY }), [
    succeeded("s"),
    succeeded("t"),
  ]);
  bench.refuse = refusing(INTERNAL, "PATCH t");
  expect((await bench.sync())?.message).toBe("tracking status: PATCH t refused");
  expect(bench.calls).toEqual(["PUT status", "PATCH s", "PATCH t", "PUT status"]);
  expect(bench.written?.status).toMatchObject({ succeeded: 1, uncountedTerminatedPods: { succeeded: ["uid-t"] } });
  expect(conditionsOf(bench.written?.status)).toEqual(["SuccessCriteriaMet=True CompletionsReached"]);
  expect([...bench.memory.finalizers.expectedUIDs(KEY)]).toEqual(["uid-s"]);

  bench.refuse = refusing({ code: 404, reason: "NotFound" }, "PATCH t");
  bench.catchUp();
  expect(await bench.sync()).toBeUndefined();
  expect(bench.calls).toEqual(["PATCH t", "PUT status"]);
  expect(bench.written?.status).toMatchObject({ succeeded: 2, uncountedTerminatedPods: {} });
});

test("a pod that is found gone is counted once, however long the cache shows it", async () => {
  const bench = new SyncBench(job({ completions: 3, parallelism: 0 }, { status: STEADY }), [failed("f")]);
  bench.refuse = refusing({ code: 404, reason: "NotFound" }, "PATCH f");
  expect(await bench.sync()).toBeUndefined();
  expect(bench.written?.status).toMatchObject({ failed: 1, uncountedTerminatedPods: {} });
  bench.catchUp();
  expect(await bench.sync()).toBeUndefined();
  expect(bench.calls).toEqual([]);
});

test("what was expected of a Job does not hold back another that has taken its name", async () => {
  const bench = new SyncBench(job({}, { uid: "first" }), [], { consistencyGate: false });
  await bench.sync();
  expect(bench.memory.expectations.satisfiedExpectations(KEY)).toBe(false);
  bench.jobStore.update(job({}, { uid: "second" }));
  await bench.sync();
  expect(bench.calls).toEqual(["POST job-", "PUT status"]);
});

test("when no finalizer goes there is nothing more to write", async () => {
  const bench = new SyncBench(job({ completions: 3, parallelism: 0 }, { status: STEADY }), [
    succeeded("s"),
    failed("f"),
  ]);
  bench.refuse = refusing(INTERNAL, "PATCH s", "PATCH f");
  expect(await bench.sync()).toBeInstanceOf(Error);
  expect(bench.calls).toEqual(["PUT status", "PATCH f", "PATCH s"]);
});

test("an index is counted before its pod's finalizer is removed, but the Job does not end before", async () => {
  const bench = new SyncBench(indexed(1, {}, { status: STEADY }), [succeeded("s", { index: 0 })]);
  bench.refuse = refusing(INTERNAL, "PATCH s");
  expect(await bench.sync()).toBeInstanceOf(Error);
  expect(bench.calls).toEqual(["PUT status", "PATCH s"]);
  expect(bench.written?.status).toMatchObject({ succeeded: 1, completedIndexes: "0" });
  expect(conditionsOf(bench.written?.status)).toEqual(["SuccessCriteriaMet=True CompletionsReached"]);
});

test("a refused end is not announced", async () => {
  const bench = new SyncBench(job({ completions: 1 }, { status: STEADY }), [succeeded("s")]);
  let puts = 0;
  bench.refuse = (call) => (call === "PUT status" && ++puts === 2 ? { code: 409, reason: "Conflict" } : undefined);
  expect((await bench.sync())?.message).toBe(
    "tracking status: removing uncounted pods from status: PUT status refused",
  );
  expect(bench.events).toEqual([]);
  expect(bench.memory.finished.size).toBe(0);
});

test("a failing Job deletes its pods before it writes the condition, and removes their finalizers after", async () => {
  const bench = new SyncBench(
    job({ backoffLimit: 0, completions: 3, parallelism: 3 }, { status: { ...STEADY, active: 3 } }),
    [failed("a"), pod("b"), pod("c")],
  );
  bench.refuse = refusing({ code: 404, reason: "NotFound" }, "DELETE c");
  expect(await bench.sync()).toBeUndefined();
  expect(bench.calls).toEqual(["DELETE b", "DELETE c", "PUT status", "PATCH a", "PATCH b", "PATCH c", "PUT status"]);
  expect(bench.written?.status).toMatchObject({ failed: 3, terminating: 2 });
  expect(bench.events).toEqual(["Normal SuccessfulDelete: Deleted pod: b"]);
  expect(bench.decisions[0]?.reasons.map(({ type }) => type)).toEqual([
    "Ending",
    "PodsCounted",
    "WaitingForTermination",
  ]);
});

test("a failing Job whose pod cannot be deleted counts the failed pods, and retries", async () => {
  const bench = new SyncBench(
    job({ backoffLimit: 0, completions: 2, parallelism: 2 }, { status: { ...STEADY, active: 2 } }),
    [failed("a"), pod("b")],
  );
  bench.refuse = refusing(INTERNAL, "DELETE b");
  expect((await bench.sync())?.message).toBe("unable to delete pods: DELETE b refused");
  expect(bench.calls).toEqual(["DELETE b", "PUT status", "PATCH a", "PUT status"]);
  expect(bench.written?.status).toMatchObject({ active: 1, failed: 1 });
  expect(conditionsOf(bench.written?.status)).toEqual([]);
  expect(bench.events).toEqual(["Warning FailedDelete: Error deleting: DELETE b refused"]);
});

const successPolicy = { rules: [{ succeededCount: 1 }] };
const succeeding = (): SyncBench =>
  new SyncBench(indexed(3, { successPolicy, backoffLimit: 0 }, { status: { ...STEADY, active: 3, ready: 1 } }), [
    succeeded("a", { index: 0 }),
    pod("b", { index: 1, ready: true }),
    pod("c", { index: 2 }),
  ]);

test("a succeeding Job writes the condition before it deletes the pods that still run, and removes their finalizers after", async () => {
  const bench = succeeding();
  expect(await bench.sync()).toBeUndefined();
  expect(bench.calls).toEqual(["PUT status", "DELETE b", "DELETE c", "PATCH a", "PATCH b", "PATCH c"]);
  expect(bench.written?.status).toMatchObject({ succeeded: 1, ready: 0, terminating: 2 });
  expect(bench.written?.status?.active).toBeUndefined();
  expect(conditionsOf(bench.written?.status)).toEqual(["SuccessCriteriaMet=True SuccessPolicy"]);
  expect(bench.decisions[0]?.reasons.map(({ type }) => type)).toEqual([
    "Ending",
    "PodsCounted",
    "WaitingForTermination",
  ]);
});

test("what a succeeding Job has deleted is not deleted again where the cache is late to show it", async () => {
  const bench = succeeding();
  await bench.sync();
  // The caches show everything except the last write.
  bench.jobStore.update(bench.written!);
  bench.podStore.bookmark(String(Number(bench.written!.metadata.resourceVersion) + bench.calls.length - 2));
  expect((await bench.sync())?.message).toContain("is not as new as written version");
  expect(bench.calls).toEqual([]);
});

test("a pod that a succeeding Job could not delete is active, and keeps its finalizer: it counts if it succeeds", async () => {
  const bench = succeeding();
  bench.refuse = refusing(INTERNAL, "DELETE c");
  expect((await bench.sync())?.message).toBe("unable to delete pods: DELETE c refused");
  expect(bench.calls).toEqual(["PUT status", "DELETE b", "DELETE c", "PATCH a", "PATCH b", "PUT status"]);
  expect(bench.written?.status).toMatchObject({ active: 1, terminating: 1, succeeded: 1 });
  expect(conditionsOf(bench.written?.status)).toEqual(["SuccessCriteriaMet=True SuccessPolicy"]);
  expect(bench.decisions[0]?.reasons.at(-1)).toMatchObject({ type: "EndPostponed", because: "DeletionFailed" });
  expect([...bench.memory.finalizers.expectedUIDs(KEY)]).toEqual(["uid-a", "uid-b"]);
  bench.refuse = () => undefined;
  bench.podStore.update(succeeded("a", { index: 0, tracked: false }));
  bench.podStore.delete(pod("b", { index: 1 }));
  bench.podStore.update(succeeded("c", { index: 2 }));
  bench.catchUp();
  expect(await bench.sync()).toBeUndefined();
  expect(bench.calls).toEqual(["PUT status", "PATCH c", "PUT status"]);
  expect(bench.written?.status).toMatchObject({ completedIndexes: "0,2", succeeded: 2, terminating: 0 });
  expect(bench.written?.status?.failed).toBeUndefined();
  expect(conditionsOf(bench.written?.status)).toEqual([
    "SuccessCriteriaMet=True SuccessPolicy",
    "Complete=True SuccessPolicy",
  ]);
});

test("a success that is recorded spares the pods deleted for it, though not those that had failed before", async () => {
  const conditions = [{ type: "SuccessCriteriaMet", status: "True", reason: "SuccessPolicy", message: "of that" }];
  const bench = new SyncBench(
    indexed(4, { successPolicy, backoffLimit: 0 }, { status: { ...STEADY, conditions, terminating: 1 } }),
    [
      pod("b", { index: 1, deletedAt: 0 }),
      failed("c", { index: 2, deletedAt: 0 }),
      failed("f", { index: 3 }),
      // Another client, such as PodGC, deleted it afterwards: it had failed by itself.
      failed("g", { index: 3, deletedAt: 60 }),
    ],
  );
  expect(await bench.sync()).toBeUndefined();
  expect(bench.calls).toEqual(["PUT status", "PATCH b", "PATCH c", "PATCH f", "PATCH g", "PUT status"]);
  expect(bench.written?.status).toMatchObject({ failed: 2 });
});

test("nothing is deleted for a success that cannot be recorded", async () => {
  const bench = succeeding();
  bench.refuse = refusing({ code: 409, reason: "Conflict" }, "PUT status");
  expect(await bench.sync()).toBeInstanceOf(Error);
  expect(bench.calls).toEqual(["PUT status"]);
});

test("a success is recorded though pods created last are not seen yet, and the Job does not end before they are", async () => {
  const bench = new SyncBench(indexed(2, { successPolicy }, { status: { ...STEADY, active: 2 } }), [
    succeeded("a", { index: 0 }),
  ]);
  bench.memory.expectations.expectCreations(KEY, 1);
  expect(await bench.sync()).toBeUndefined();
  expect(conditionsOf(bench.written?.status)).toEqual(["SuccessCriteriaMet=True SuccessPolicy"]);
  expect(bench.decisions[0]?.reasons.at(-1)).toMatchObject({ type: "EndPostponed", because: "ExpectationsPending" });
  bench.memory.expectations.creationObserved(KEY);
  bench.podStore.delete(succeeded("a", { index: 0 }));
  bench.podStore.add(pod("b", { index: 1 }));
  bench.catchUp();
  await bench.sync();
  expect(bench.calls).toEqual(["PUT status", "DELETE b", "PATCH b"]);
  expect(conditionsOf(bench.written?.status)).toEqual(["SuccessCriteriaMet=True SuccessPolicy"]);
});

test("the failure is announced once, with the end and not with its cause", async () => {
  const bench = new SyncBench(job({ backoffLimit: 0 }, { status: STEADY }), [failed("f")]);
  await bench.sync();
  expect(bench.events).toEqual(["Warning BackoffLimitExceeded: Job has reached the specified backoff limit"]);
});

test("what is said of the end is said of the Job as it was written before it, as upstream", async () => {
  const bench = new SyncBench(job({ completions: 1 }, { status: STEADY }), [succeeded("s")]);
  await bench.sync();
  expect(bench.bodies.at(-1)).toMatchObject({ metadata: { resourceVersion: "101" } });
  expect(bench.eventVersions).toEqual(["101"]);
});

test("more successes than wanted are remarked on", async () => {
  const bench = new SyncBench(job({ completions: 1, parallelism: 2 }, { status: STEADY }), [
    succeeded("s"),
    succeeded("t"),
  ]);
  await bench.sync();
  expect(bench.events).toEqual([
    "Warning TooManySucceededPods: Too many succeeded pods running after completion count reached",
    "Normal Completed: Job completed",
  ]);
});

test("creation stops after the first batch with a refusal, and the status counts the created pods", async () => {
  const bench = new SyncBench(job({ completions: 200, parallelism: 100 }));
  let posts = 0;
  bench.refuse = (call) => (call.startsWith("POST") && ++posts > 10 ? { code: 403, reason: "Forbidden" } : undefined);
  expect((await bench.sync())?.message).toBe("POST job- refused");
  expect(posts).toBe(15);
  expect(bench.written?.status).toMatchObject({ active: 10 });
  expect(bench.memory.expectations.getExpectations(KEY)).toMatchObject({ add: 10 });
  expect(
    bench.events.filter((event) => event === "Warning FailedCreate: Error creating: POST job- refused"),
  ).toHaveLength(5);
});

test("when the first creation is refused, no other is tried", async () => {
  const bench = new SyncBench(job({ completions: 9, parallelism: 9 }));
  bench.refuse = refusing(INTERNAL, "POST job-");
  await bench.sync();
  expect(bench.calls).toEqual(["POST job-", "PUT status"]);
  expect(bench.memory.expectations.satisfiedExpectations(KEY)).toBe(true);
});

test("a namespace that is being deleted refuses quietly, and creation is not tried again for a while", async () => {
  const bench = new SyncBench(job({ parallelism: 2 }));
  bench.refuse = refusing({ code: 403, reason: "Forbidden", cause: "NamespaceTerminating" }, "POST job-");
  expect(await bench.sync()).toBeUndefined();
  expect(bench.events).toEqual([]);
  expect(bench.memory.expectations.satisfiedExpectations(KEY)).toBe(false);
});

test("indexed pods are created in order, with generated names that contain the index", async () => {
  const bench = new SyncBench(indexed(3));
  await bench.sync();
  expect(bench.calls).toEqual(["POST job-0-", "POST job-1-", "POST job-2-", "PUT status"]);
});

test("a surplus pod loses its finalizer and is deleted; one that keeps it is kept", async () => {
  const bench = new SyncBench(job({ completions: 5, parallelism: 0 }, { status: { ...STEADY, active: 3 } }), [
    pod("a"),
    pod("b"),
    pod("c"),
  ]);
  bench.refuse = (call) =>
    call === "PATCH b" ? INTERNAL : call === "PATCH c" ? { code: 404, reason: "NotFound" } : undefined;
  expect((await bench.sync())?.message).toBe("removing completion finalizer: PATCH b refused");
  expect([...bench.calls].sort()).toEqual(["DELETE a", "PATCH a", "PATCH b", "PATCH c", "PUT status"]);
  expect(bench.written?.status).toMatchObject({ active: 1, terminating: 2 });
  expect(bench.memory.expectations.getExpectations(KEY)).toMatchObject({ del: 1 });
});

test("ready pods that are gone are ready no more, found gone or deleted, and those that stay are", async () => {
  const ready = ["a", "b", "c"].map((name) => pod(name, { ready: true }));
  const bench = new SyncBench(
    job({ completions: 5, parallelism: 0 }, { status: { ...STEADY, active: 3, ready: 3 } }),
    ready,
  );
  bench.refuse = (call) =>
    call === "PATCH a" ? { code: 404, reason: "NotFound" } : call === "DELETE c" ? INTERNAL : undefined;
  expect(await bench.sync()).toBeInstanceOf(Error);
  expect(bench.written?.status).toMatchObject({ active: 1, ready: 1, terminating: 2 });
});

test("suspending deletes all pods, records an event, and writes the condition even if a deletion was refused", async () => {
  const bench = new SyncBench(job({ suspend: true, parallelism: 2 }, { status: { ...STEADY, active: 2 } }), [
    pod("a"),
    pod("b"),
  ]);
  bench.refuse = refusing(INTERNAL, "DELETE b");
  expect((await bench.sync())?.message).toBe("unable to delete pods: DELETE b refused");
  expect(conditionsOf(bench.written?.status)).toEqual(["Suspended=True JobSuspended"]);
  expect(bench.events.at(-1)).toBe("Normal Suspended: Job suspended");
});

test("a backoff and a deadline bring the Job back, a short backoff not at once", async () => {
  const bench = new SyncBench(job({ activeDeadlineSeconds: 100, completions: 1 }, { status: STEADY }), [failed("f")]);
  await bench.sync();
  expect(bench.requeues).toEqual([40_000, 10_000]);
  bench.catchUp();
  await bench.clock.advance(9_700);
  await bench.sync();
  expect(bench.requeues).toEqual([30_300, 1_000]);
});

test("matching orphans are adopted after one look at the Job, with finalizer, and counted at once", async () => {
  const stray = (name: string, options: Parameters<typeof pod>[1] = {}) =>
    pod(name, { owned: false, tracked: false, ...options });
  const bench = new SyncBench(job({ completions: 5, parallelism: 3 }, { status: { ...STEADY, active: 1 } }), [
    pod("a"),
    stray("b"),
    stray("s", { phase: "Succeeded" }),
  ]);
  expect(await bench.sync()).toBeUndefined();
  expect(bench.calls).toEqual(["GET job", "PATCH b", "PATCH s", "POST job-", "PUT status", "PATCH s", "PUT status"]);
  expect(bench.bodies[1]).toEqual({
    metadata: {
      ownerReferences: [
        {
          apiVersion: "batch/v1",
          kind: "Job",
          name: "job",
          uid: "job-uid",
          controller: true,
          blockOwnerDeletion: true,
        },
      ],
      uid: "uid-b",
      finalizers: [JOB_TRACKING_FINALIZER],
    },
  });
  expect(bench.written?.status).toMatchObject({ active: 3, succeeded: 1 });
});

test("an orphan that was adopted and counted is not adopted again while the cache shows neither", async () => {
  const orphan = pod("s", { owned: false, tracked: false, phase: "Succeeded" });
  const bench = new SyncBench(job({ completions: 2, parallelism: 0 }, { status: STEADY }), [orphan], {
    consistencyGate: false,
  });
  await bench.sync();
  expect(bench.calls).toEqual(["GET job", "PATCH s", "PUT status", "PATCH s", "PUT status"]);
  bench.catchUp();
  expect(await bench.sync()).toBeUndefined();
  expect(bench.calls).toEqual([]);
});

test("nothing is written when an adoption fails, unless the pod is gone", async () => {
  const orphan = pod("b", { owned: false });
  const refused = new SyncBench(job(), [orphan]);
  refused.refuse = refusing(INTERNAL, "GET job");
  expect((await refused.sync())?.message).toBe(
    "can't adopt Pod ns/b (uid-b): can't recheck DeletionTimestamp: GET job refused",
  );
  expect(refused.calls).toEqual(["GET job"]);
  const gone = new SyncBench(job(), [orphan]);
  gone.refuse = refusing({ code: 404, reason: "NotFound" }, "PATCH b");
  expect(await gone.sync()).toBeUndefined();
  expect(gone.calls).toEqual(["GET job", "PATCH b", "POST job-", "PUT status"]);
});

test("an owned pod that matches no longer is released without its finalizer, and not counted", async () => {
  const bench = new SyncBench(job({ parallelism: 0, completions: 3 }, { status: STEADY }), [
    pod("a", { labels: { other: "1" } }),
  ]);
  for (const refusal of [undefined, { code: 404, reason: "NotFound" }, { code: 422, reason: "Invalid" }]) {
    bench.refuse = () => refusal;
    expect(await bench.sync()).toBeUndefined();
    expect(bench.calls).toEqual(["PATCH a"]);
    expect(bench.bodies[0]).toEqual({
      metadata: {
        uid: "uid-a",
        ownerReferences: [{ $patch: "delete", uid: "job-uid" }],
        "$deleteFromPrimitiveList/finalizers": [JOB_TRACKING_FINALIZER],
      },
    });
  }
  bench.refuse = () => ({ code: 409, reason: "Conflict" });
  expect(await bench.sync()).toBeInstanceOf(Error);
});

test("a Job being deleted adopts, releases and creates nothing", async () => {
  const deleting = job({}, { deletionTimestamp: at(0), status: STEADY });
  const bench = new SyncBench(deleting, [pod("a", { owned: false }), pod("b", { labels: {} })]);
  expect(await bench.sync()).toBeUndefined();
  expect(bench.calls).toEqual([]);
});

test("a missing, finished or foreign Job is no business of a sync", async () => {
  const missing = new SyncBench(undefined);
  missing.memory.backoff.set(KEY, { failuresAfterLastSuccess: 1 });
  missing.memory.expectations.expectCreations(KEY, 1);
  expect(await missing.sync()).toBeUndefined();
  expect(missing.memory.backoff.size).toBe(0);
  expect(missing.memory.expectations.getExpectations(KEY)).toBeUndefined();

  const finished = new SyncBench(
    job({ parallelism: 3 }, { status: { conditions: [{ type: "Failed", status: "True" }] } }),
    [pod("x", { owned: false })],
  );
  const foreign = new SyncBench(job({ managedBy: "example.com/other" }));
  const own = new SyncBench(job({ managedBy: "kubernetes.io/job-controller" }));
  for (const bench of [finished, foreign, own]) expect(await bench.sync()).toBeUndefined();
  expect([finished.calls, foreign.calls]).toEqual([[], []]);
  expect(own.calls).toEqual(["POST job-", "PUT status"]);
});

test("a Job with an unknown completion mode is reported and left alone", async () => {
  const bench = new SyncBench(job({ completionMode: "Weird" }));
  expect(await bench.sync()).toBeUndefined();
  expect(bench.calls).toEqual([]);
  expect(bench.events).toEqual(["Warning UnknownCompletionMode: Skipped Job sync because completion mode is unknown"]);
  expect(bench.decisions).toEqual([]);
});

test("a key without namespace is refused", async () => {
  expect((await new SyncBench(job()).sync("job" as ObjectKey))?.message).toBe(
    'invalid job key "job": either namespace or name is missing',
  );
});

test("pods expected and not seen keep an end from being recorded, until they are seen", async () => {
  const bench = new SyncBench(job({ backoffLimit: 0 }, { status: { ...STEADY, active: 1 } }), [failed("f")]);
  bench.memory.expectations.expectCreations(KEY, 1);
  expect(await bench.sync()).toBeUndefined();
  expect(bench.written?.status).toMatchObject({ failed: 1 });
  expect(conditionsOf(bench.written?.status)).toEqual([]);
  bench.memory.expectations.creationObserved(KEY);
  bench.catchUp();
  await bench.sync();
  expect(conditionsOf(bench.written?.status)).toEqual([
    "FailureTarget=True BackoffLimitExceeded",
    "Failed=True BackoffLimitExceeded",
  ]);
});

test("expectations that are never met hold pods back for five minutes", async () => {
  const bench = new SyncBench(job());
  bench.memory.expectations.expectCreations(KEY, 1);
  await bench.clock.advance(300_000);
  await bench.sync();
  expect(bench.calls).toEqual(["PUT status"]);
  bench.catchUp();
  await bench.clock.advance(1);
  await bench.sync();
  expect(bench.calls).toEqual(["POST job-", "PUT status"]);
  expect(bench.requeues).toEqual([]);
});

test("a Job is synced again, without an event, when its expectations expire, if caches show its writes", async () => {
  for (const consistencyGate of [true, false]) {
    const bench = new SyncBench(job(), [], { consistencyGate });
    bench.memory.expectations.expectCreations(KEY, 1);
    await bench.clock.advance(100_000);
    await bench.sync();
    expect(bench.requeues).toEqual(consistencyGate ? [200_001] : []);
  }
});

test("a Job whose cache does not show its pods yet creates no others when its expectations expire", async () => {
  const bench = new SyncBench(job());
  bench.catchUp();
  await bench.sync();
  expect(bench.calls).toEqual(["POST job-", "PUT status"]);
  await bench.clock.advance(300_001);
  expect((await bench.sync())?.message).toContain("is not as new as written version");
  expect(bench.calls).toEqual([]);
});
