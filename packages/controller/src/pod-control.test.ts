import { type DeepReadonly, type Job, type PodTemplateSpec, deepFreeze, jobs, newControllerRef } from "@kubewright/api";
import { Client } from "@kubewright/client";
import { SimulatedClock } from "@kubewright/clock";
import { expect, test } from "vitest";

import { type SentRequest, refusal, scriptedTransport, stored } from "../test/scripted-transport.js";
import { PodControl } from "./pod-control.js";

const job: Job = deepFreeze({ metadata: { namespace: "default", name: "pi", uid: "u1" } });
const controllerRef = newControllerRef(job, { apiVersion: "batch/v1", kind: "Job" });
const template: DeepReadonly<PodTemplateSpec> = deepFreeze({
  metadata: { labels: { app: "pi" }, annotations: { note: "x" }, finalizers: ["example.com/f"] },
  spec: { containers: [{ name: "main", image: "perl" }], restartPolicy: "Never" },
});
const creation = { namespace: "default", template, owner: job, ownerDefinition: jobs, controllerRef };

function setUp(answer: (request: SentRequest) => unknown) {
  const { transport, requests } = scriptedTransport(answer);
  const recorded: string[] = [];
  const writes: unknown[] = [];
  const control = new PodControl({
    client: new Client({ transport, clock: new SimulatedClock() }),
    events: {
      event: (object, { kind }, type, reason, message) =>
        recorded.push(`${kind} ${object.metadata.name}: ${type} ${reason} ${message}`),
    },
    onWrite: (pod) => writes.push(pod.metadata.name),
  });
  return { control, requests, recorded, writes };
}

test("createPod posts the templated pod, reports the write and records SuccessfulCreate", async () => {
  const { control, requests, recorded, writes } = setUp((request) => stored(request, { name: "pi-x7k2p" }));
  const pod = await control.createPod(creation);
  expect(pod.metadata.name).toBe("pi-x7k2p");
  expect(requests).toMatchObject([
    {
      method: "POST",
      path: "/api/v1/namespaces/default/pods",
      body: {
        apiVersion: "v1",
        kind: "Pod",
        metadata: {
          generateName: "pi-",
          labels: { app: "pi" },
          annotations: { note: "x" },
          finalizers: ["example.com/f"],
          ownerReferences: [
            { apiVersion: "batch/v1", kind: "Job", name: "pi", uid: "u1", controller: true, blockOwnerDeletion: true },
          ],
        },
        spec: { containers: [{ name: "main", image: "perl" }], restartPolicy: "Never" },
      },
    },
  ]);
  expect((requests[0]!.body as { metadata: object }).metadata).not.toHaveProperty("name");
  expect(recorded).toEqual(["Job pi: Normal SuccessfulCreate Created pod: pi-x7k2p"]);
  expect(writes).toEqual(["pi-x7k2p"]);
});

test("a refused create is reported in an event and thrown unchanged", async () => {
  const { control, recorded, writes } = setUp(() =>
    refusal(403, "Forbidden", 'pods "pi-" is forbidden: exceeded quota'),
  );
  await expect(control.createPod(creation)).rejects.toMatchObject({ status: { reason: "Forbidden" } });
  expect(recorded).toEqual(['Job pi: Warning FailedCreate Error creating: pods "pi-" is forbidden: exceeded quota']);
  expect(writes).toEqual([]);
});

test("a create in a namespace that is being deleted is thrown without an event", async () => {
  const { control, recorded } = setUp(() =>
    refusal(403, "Forbidden", "being terminated", [{ reason: "NamespaceTerminating" }]),
  );
  await expect(control.createPod(creation)).rejects.toThrow("being terminated");
  expect(recorded).toEqual([]);
});

test("a create that an abort cuts short is no failure to report", async () => {
  const stop = new AbortController();
  const { control, recorded } = setUp(() => {
    stop.abort(new Error("stopping"));
    throw stop.signal.reason;
  });
  await expect(control.createPod(creation, stop.signal)).rejects.toThrow("stopping");
  expect(recorded).toEqual([]);
});

test.each([
  ["controllerRef has empty APIVersion", { ...controllerRef, apiVersion: "" }],
  ["controllerRef has empty Kind", { ...controllerRef, kind: "" }],
  ["controllerRef.Controller is not set to true", { ...controllerRef, controller: false }],
  [
    "controllerRef.BlockOwnerDeletion is not set",
    { apiVersion: "batch/v1", kind: "Job", name: "pi", uid: "u1", controller: true },
  ],
])("createPod refuses to send anything when %s", async (message, reference) => {
  const { control, requests, recorded } = setUp((request) => stored(request));
  await expect(control.createPod({ ...creation, controllerRef: reference })).rejects.toThrow(message);
  expect({ requests, recorded }).toEqual({ requests: [], recorded: [] });
});

test("a template without labels fails before anything is sent, without an event", async () => {
  const { control, requests, recorded } = setUp((request) => stored(request));
  await expect(control.createPod({ ...creation, template: { spec: { containers: [] } } })).rejects.toThrow(
    "unable to create pods, no labels",
  );
  expect({ requests, recorded }).toEqual({ requests: [], recorded: [] });
});

test("deletePod deletes with default options and records SuccessfulDelete", async () => {
  const { control, requests, recorded, writes } = setUp((request) => stored(request));
  await control.deletePod("default", "pi-1", job, jobs);
  expect(requests).toMatchObject([
    {
      method: "DELETE",
      path: "/api/v1/namespaces/default/pods/pi-1",
      body: { kind: "DeleteOptions", apiVersion: "v1" },
    },
  ]);
  expect(recorded).toEqual(["Job pi: Normal SuccessfulDelete Deleted pod: pi-1"]);
  expect(writes).toEqual([]);
});

test("deleting a pod that is gone throws NotFound without an event", async () => {
  const { control, recorded } = setUp(() => refusal(404, "NotFound", 'pods "pi-1" not found'));
  await expect(control.deletePod("default", "pi-1", job, jobs)).rejects.toMatchObject({
    status: { reason: "NotFound" },
  });
  expect(recorded).toEqual([]);
});

test("a failed delete is reported and wrapped", async () => {
  const { control, recorded } = setUp(() => refusal(500, "InternalError", "etcd is down"));
  await expect(control.deletePod("default", "pi-1", job, jobs)).rejects.toThrow("unable to delete pods: etcd is down");
  expect(recorded).toEqual(["Job pi: Warning FailedDelete Error deleting: etcd is down"]);
});

test("patchPod sends a strategic merge patch and reports the write, without an event", async () => {
  const { control, requests, recorded, writes } = setUp((request) => stored(request));
  await control.patchPod("default", "pi-1", { metadata: { finalizers: null } });
  expect(requests).toMatchObject([
    {
      method: "PATCH",
      path: "/api/v1/namespaces/default/pods/pi-1",
      contentType: "application/strategic-merge-patch+json",
    },
  ]);
  expect({ recorded, writes }).toEqual({ recorded: [], writes: ["pi-1"] });
});
