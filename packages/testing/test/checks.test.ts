import { type Job, jobs, pods } from "@kubewright/api";
import { expect, test } from "vitest";

import "../src/vitest.js";
import {
  assertCheck,
  checkCondition,
  checkEvent,
  checkFinalizer,
  checkGone,
  checkOwns,
  startTestCluster,
} from "../src/index.js";

const template = { spec: { restartPolicy: "Never", containers: [{ name: "c", image: "i" }] } };

async function withJob(finalizers: string[] = []) {
  const cluster = await startTestCluster();
  const pi = await cluster.create(jobs, { metadata: { name: "pi", finalizers }, spec: { template } });
  await cluster.advance("1m");
  return { cluster, pi, [Symbol.asyncDispose]: () => cluster.stop() };
}

test("a failed check of a condition lists the existing conditions", async () => {
  await using started = await withJob();
  const { pi, cluster } = started;
  await expect(pi).toHaveCondition("Complete", "True", { reason: "CompletionsReached", message: /expected number/ });
  await expect(expect(pi).toHaveCondition("Failed")).rejects.toThrow(
    "expected Job default/pi to have condition Failed=True; its conditions: SuccessCriteriaMet=True (CompletionsReached: Reached expected number of succeeded pods); Complete=True (CompletionsReached: Reached expected number of succeeded pods)",
  );
  await expect(expect(pi).toHaveCondition("Complete", "True", { reason: "Other" })).rejects.toThrow(
    'expected Job default/pi to have condition Complete=True with reason "Other"; its conditions: ',
  );
  await expect(expect(pi).not.toHaveCondition("Complete")).rejects.toThrow(
    "expected Job default/pi not to have condition Complete=True; its conditions: ",
  );
  const read: Job = { kind: "Job", metadata: { namespace: "a", name: "b" }, status: { active: 3 } };
  expect((await checkCondition(read, "Complete")).message).toBe(
    'expected Job a/b to have condition Complete=True; its conditions: none; status {"active":3}',
  );
  expect((await checkCondition(cluster.object(jobs, "po"), "Complete")).message).toBe(
    "expected Job default/po to have condition Complete=True, but it does not exist; others of its kind: pi",
  );
});

test("a failed check of an event lists the recorded events of this object only", async () => {
  await using started = await withJob();
  const { pi, cluster } = started;
  await cluster.create(jobs, { metadata: { name: "other" }, spec: { template } });
  await cluster.advance("1m");
  await expect(pi).toHaveEvent({
    type: "Normal",
    reason: "Completed",
    message: "Job completed",
    component: "job-controller",
  });
  expect(await checkEvent(pi, { type: "Warning", reason: /^Fail/ })).toEqual({
    pass: false,
    message: expect.stringMatching(
      /^expected Job default\/pi to have an event with type "Warning", reason \/\^Fail\/; its events: Normal SuccessfulCreate: Created pod: pi-\w{5} \(job-controller\); Normal Completed: Job completed \(job-controller\)$/,
    ),
  });
  await expect(expect(pi).not.toHaveEvent({ reason: "Completed" })).rejects.toThrow("not to have an event");
});

test("owned objects are counted and named, those being deleted separately", async () => {
  await using started = await withJob();
  const { pi } = started;
  await expect(pi).toOwn(pods, 1);
  await expect(pi).not.toOwn(jobs);
  expect((await checkOwns(pi, pods, 2)).message).toMatch(
    /^expected Job default\/pi to own 2 pods; it owns 1: pi-\w{5}$/,
  );
});

test("finalizers, and objects that they protect from deletion", async () => {
  await using started = await withJob(["example.com/hold"]);
  const { pi, cluster } = started;
  await expect(pi).toHaveFinalizer("example.com/hold");
  expect((await checkFinalizer(pi, "example.com/other")).message).toBe(
    "expected Job default/pi to have the finalizer example.com/other; its finalizers: example.com/hold",
  );
  await pi.delete();
  await cluster.advance("1m");
  expect((await checkGone(pi)).message).toMatch(
    /^expected Job default\/pi to be gone, but it exists: status \{.*; deleted at 2026-01-01T00:01:00Z; finalizers example\.com\/hold$/,
  );
  await pi.patch({ metadata: { finalizers: null } });
  await expect(pi).toBeGone();
  await expect(expect(pi).not.toBeGone()).rejects.toThrow("expected Job default/pi to exist, but it does not");
});

test("without matchers, a failed check throws", async () => {
  await using started = await withJob();
  const { pi, cluster } = started;
  assertCheck(await checkCondition(pi, "Complete"));
  const failed = await checkCondition(pi, "Failed");
  expect(() => assertCheck(failed)).toThrow("expected Job default/pi to have condition Failed=True");
  await expect(cluster.eventually(() => checkCondition(pi, "Failed"), { within: 0 })).rejects.toThrow(failed.message);
});
