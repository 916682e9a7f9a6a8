import type { Pod } from "@kubewright/api";
import { expect, test } from "vitest";

import { cachedFields } from "./cached-fields.js";

const PODS = { group: "", version: "v1", kind: "Pod", resource: "pods", namespaced: true };
const JOBS = { group: "batch", version: "v1", kind: "Job", resource: "jobs", namespaced: true };

const POD: Pod = {
  apiVersion: "v1",
  kind: "Pod",
  metadata: {
    name: "p",
    namespace: "n",
    uid: "u",
    resourceVersion: "7",
    generation: 2,
    creationTimestamp: "2026-01-01T00:00:00Z",
    deletionTimestamp: "2026-01-01T01:00:00Z",
    deletionGracePeriodSeconds: 30,
    labels: { a: "b" },
    finalizers: ["batch.kubernetes.io/job-tracking"],
    ownerReferences: [{ apiVersion: "batch/v1", kind: "Job", name: "j", uid: "x", controller: true }],
    annotations: { "batch.kubernetes.io/job-completion-index": "3", note: "long" },
    managedFields: [{ manager: "m" }],
  },
  spec: {
    nodeName: "node-1",
    restartPolicy: "Never",
    containers: [{ name: "c", image: "x", command: ["sleep"] }],
    initContainers: [
      { name: "first", image: "x" },
      { name: "beside", image: "x", restartPolicy: "Always" },
    ],
    volumes: [{ name: "v", emptyDir: {} }],
  },
  status: {
    phase: "Failed",
    reason: "Evicted",
    message: "The node was low on memory",
    observedGeneration: 1,
    podIP: "10.1.0.1",
    conditions: [{ type: "Ready", status: "False", lastTransitionTime: "2026-01-01T00:30:00Z" }],
    containerStatuses: [
      {
        name: "c",
        ready: false,
        restartCount: 4,
        image: "x",
        imageID: "y",
        state: { terminated: { exitCode: 3, finishedAt: "2026-01-01T00:29:00Z", message: "long" } },
        lastState: { terminated: { exitCode: 1 } },
      },
    ],
  },
};

test("a pod is cached with what Job and PodGC read of it, and nothing else", () => {
  expect(cachedFields(POD, PODS)).toEqual({
    metadata: {
      name: "p",
      namespace: "n",
      uid: "u",
      resourceVersion: "7",
      generation: 2,
      creationTimestamp: "2026-01-01T00:00:00Z",
      deletionTimestamp: "2026-01-01T01:00:00Z",
      deletionGracePeriodSeconds: 30,
      labels: { a: "b" },
      finalizers: ["batch.kubernetes.io/job-tracking"],
      ownerReferences: [{ apiVersion: "batch/v1", kind: "Job", name: "j", uid: "x", controller: true }],
      annotations: { "batch.kubernetes.io/job-completion-index": "3" },
    },
    spec: { nodeName: "node-1", initContainers: [{ name: "beside", restartPolicy: "Always" }] },
    status: {
      phase: "Failed",
      reason: "Evicted",
      observedGeneration: 1,
      conditions: [{ type: "Ready", status: "False", lastTransitionTime: "2026-01-01T00:30:00Z" }],
      containerStatuses: [
        {
          name: "c",
          ready: false,
          restartCount: 4,
          state: { terminated: { exitCode: 3, finishedAt: "2026-01-01T00:29:00Z" } },
        },
      ],
    },
  });
});

test("a pod that lacks what others have is cached without it", () => {
  expect(cachedFields<Pod>({ metadata: { name: "p" } }, PODS)).toEqual({ metadata: { name: "p" } });
  expect(cachedFields<Pod>({ metadata: { name: "p" }, spec: { containers: [] }, status: {} }, PODS)).toEqual({
    metadata: { name: "p" },
    spec: {},
    status: {},
  });
});

test("what is given is left as it is", () => {
  const before = structuredClone(POD);
  cachedFields(POD, PODS);
  expect(POD).toEqual(before);
});

test("objects of other types keep all but their managed fields", () => {
  const job = { metadata: { name: "j", annotations: { note: "x" }, managedFields: [{}] }, spec: { completions: 3 } };
  expect(cachedFields(job, JOBS)).toEqual({
    metadata: { name: "j", annotations: { note: "x" } },
    spec: { completions: 3 },
  });
});
