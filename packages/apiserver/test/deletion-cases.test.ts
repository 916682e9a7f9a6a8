import type { Job, KubernetesObject, Status } from "@kubewright/api";
import { SimulatedClock, seededRandom } from "@kubewright/clock";
import type { ApiRequest } from "@kubewright/transport";
import { expect, test } from "vitest";

import { createApiServer } from "../src/index.js";

const JOB = "/apis/batch/v1/namespaces/default/jobs/j";
const POD = "/api/v1/namespaces/default/pods/p";
const MERGE = "application/merge-patch+json";

interface Answer {
  readonly status: number;
  readonly warning: unknown;
  readonly value: KubernetesObject & Status;
}

type Send = (method: ApiRequest["method"], path: string, value?: unknown, type?: string) => Promise<Answer>;

function setUp(): Send {
  const { transport } = createApiServer({
    clock: new SimulatedClock("2026-01-01T00:00:00Z"),
    random: seededRandom(1),
    freeze: true,
  });
  return async (method, path, value, type = "application/json") => {
    const body = value === undefined ? {} : { body: { type: "decoded", value } as const };
    const response = await transport({ method, path, headers: { "content-type": type }, ...body });
    if (response.body.type !== "decoded") throw new Error(`${method} ${path} answered with ${response.body.type}`);
    return {
      status: response.status,
      warning: response.headers["warning"],
      value: response.body.value as Answer["value"],
    };
  };
}

async function withJob(finalizers?: string[]): Promise<{ send: Send; job: Job }> {
  const send = setUp();
  const template = { spec: { restartPolicy: "Never", containers: [{ name: "c", image: "busybox" }] } };
  const metadata = { name: "j", ...(finalizers === undefined ? {} : { finalizers }) };
  const made = await send("POST", "/apis/batch/v1/namespaces/default/jobs", { metadata, spec: { template } });
  expect(made.status).toBe(201);
  return { send, job: made.value as unknown as Job };
}

async function withPod(spec: object = {}, finalizers?: string[]): Promise<Send> {
  const send = setUp();
  const metadata = { name: "p", ...(finalizers === undefined ? {} : { finalizers }) };
  const made = await send("POST", "/api/v1/namespaces/default/pods", {
    metadata,
    spec: { containers: [{ name: "c", image: "busybox" }], ...spec },
  });
  expect(made.status).toBe(201);
  return send;
}

const gone = async (send: Send, path: string): Promise<boolean> => (await send("GET", path)).status === 404;

test("37: a Job deleted without options keeps its pods: orphan finalizer, and a warning", async () => {
  const { send } = await withJob();
  const { value, warning } = await send("DELETE", JOB);
  expect(value.metadata.finalizers).toEqual(["orphan"]);
  expect(String(warning)).toContain("child pods are preserved by default when jobs are deleted");
});

test("38: Background removes a Job without finalizers at once, and answers a Status with its uid", async () => {
  const { send, job } = await withJob();
  const { value } = await send("DELETE", JOB, { propagationPolicy: "Background" });
  expect(value).toMatchObject({
    kind: "Status",
    status: "Success",
    details: { name: "j", kind: "jobs", uid: job.metadata.uid },
  });
  expect(await gone(send, JOB)).toBe(true);
});

test("39, 40: Foreground marks the Job, its finalizer last; a second time changes nothing", async () => {
  const { send, job } = await withJob(["example.com/hold"]);
  const first = await send("DELETE", JOB, { propagationPolicy: "Foreground" });
  expect(first.value.metadata).toMatchObject({
    finalizers: ["example.com/hold", "foregroundDeletion"],
    deletionTimestamp: "2026-01-01T00:00:00Z",
    deletionGracePeriodSeconds: 0,
    generation: job.metadata.generation! + 1,
  });
  expect((await send("DELETE", JOB, { propagationPolicy: "Foreground" })).value).toEqual(first.value);
});

test("41: Background after Foreground removes the Job at once", async () => {
  const { send } = await withJob();
  await send("DELETE", JOB, { propagationPolicy: "Foreground" });
  expect(await gone(send, JOB)).toBe(false);
  await send("DELETE", JOB, { propagationPolicy: "Background" });
  expect(await gone(send, JOB)).toBe(true);
});

test("42: a precondition that does not hold is a conflict that says what differs", async () => {
  const { send, job } = await withJob();
  const { uid, resourceVersion } = job.metadata;
  const byUid = await send("DELETE", JOB, { preconditions: { uid: "other" } });
  const byVersion = await send("DELETE", JOB, { preconditions: { resourceVersion: "1" } });
  expect([byUid.status, byVersion.status]).toEqual([409, 409]);
  expect(byUid.value.message).toBe(
    `Operation cannot be fulfilled on Job.batch "j": the UID in the precondition (other) does not match the UID in record (${uid}). The object might have been deleted and then recreated`,
  );
  expect(byVersion.value.message).toBe(
    `Operation cannot be fulfilled on Job.batch "j": the ResourceVersion in the precondition (1) does not match the ResourceVersion in record (${resourceVersion}). The object might have been modified`,
  );
  expect(await gone(send, JOB)).toBe(false);
});

test("43: both ways of saying what becomes of dependents at once are refused", async () => {
  const { send } = await withJob();
  const { status, value } = await send("DELETE", JOB, { propagationPolicy: "Background", orphanDependents: true });
  expect(status).toBe(422);
  expect(value.message).toContain("orphanDependents and deletionPropagation cannot be both set");
});

test("44: a running pod stays for its grace period, which may be shortened only", async () => {
  const send = await withPod({ nodeName: "n" });
  const first = await send("DELETE", POD);
  expect(first.value.metadata.deletionGracePeriodSeconds).toBe(30);
  expect((await send("DELETE", POD, { gracePeriodSeconds: 60 })).value).toEqual(first.value);
  await send("DELETE", POD, { gracePeriodSeconds: 0 });
  expect(await gone(send, POD)).toBe(true);
});

test("44: a grace period beyond 292 years wraps around as Go's durations do", async () => {
  const patient = async (gracePeriodSeconds: number) => {
    const send = await withPod({ nodeName: "n" });
    return (await send("DELETE", POD, { gracePeriodSeconds })).value.metadata;
  };
  const { deletionTimestamp, deletionGracePeriodSeconds } = await patient(10_000_000_000);
  expect([deletionTimestamp?.slice(0, 4), deletionGracePeriodSeconds]).toEqual(["1758", 10_000_000_000]);
  expect((await patient(20_000_000_000)).deletionTimestamp?.slice(0, 4)).toBe("2075");
  expect((await patient(2 ** 53 - 1)).deletionTimestamp?.slice(0, 4)).toBe("2172");
});

test("44: an unscheduled pod and a failed one go at once", async () => {
  const unscheduled = await withPod();
  await unscheduled("DELETE", POD);
  expect(await gone(unscheduled, POD)).toBe(true);
  const failed = await withPod({ nodeName: "n" });
  await failed("PATCH", `${POD}/status`, { status: { phase: "Failed" } }, MERGE);
  await failed("DELETE", POD);
  expect(await gone(failed, POD)).toBe(true);
});

test("45: the update that takes a deleting Job's last finalizer removes it, and answers with it", async () => {
  const { send } = await withJob(["example.com/hold"]);
  await send("DELETE", JOB, { propagationPolicy: "Background" });
  const { status, value } = await send("PATCH", JOB, { metadata: { finalizers: null } }, MERGE);
  expect([status, value.kind, value.metadata.name]).toEqual([200, "Job", "j"]);
  expect(await gone(send, JOB)).toBe(true);
});

test("46: a deleting Job takes no new finalizer", async () => {
  const { send } = await withJob(["example.com/hold"]);
  await send("DELETE", JOB, { propagationPolicy: "Background" });
  const finalizers = ["example.com/hold", "a/b"];
  const { status, value } = await send("PATCH", JOB, { metadata: { finalizers } }, MERGE);
  expect(status).toBe(422);
  expect(value.message).toContain(
    'no new finalizers can be added if the object is being deleted, found new finalizers []string{"a/b"}',
  );
});

test("47: a pod within its grace period outlives its last finalizer", async () => {
  const send = await withPod({ nodeName: "n" }, ["example.com/hold"]);
  await send("DELETE", POD);
  expect((await send("PATCH", POD, { metadata: { finalizers: null } }, MERGE)).status).toBe(200);
  expect(await gone(send, POD)).toBe(false);
});
