import { type ObjectKey, type Pod, mutableCopy } from "@kubewright/api";
import { expect, test } from "vitest";

import { pod, succeeded } from "../test/fixtures.js";
import type { PodObject } from "./job-spec.js";
import { UnfinishedPods } from "./unfinished-pods.js";

const owned = (original: PodObject, reference: Partial<NonNullable<Pod["metadata"]["ownerReferences"]>[number]>) => {
  const copy = mutableCopy(original) as Pod;
  Object.assign(copy.metadata.ownerReferences![0]!, reference);
  return copy;
};

test("a Job has unfinished pods from the first that is seen until the last has ended or is gone", () => {
  const unfinished = new UnfinishedPods();
  unfinished.onAdd(pod("a"));
  unfinished.onAdd(pod("b", { deletedAt: 0 }));
  unfinished.onAdd(succeeded("c"));
  unfinished.onUpdate(pod("a"), succeeded("a"));
  expect(unfinished.has("job-uid")).toBe(true);
  unfinished.onDelete({ kind: "DeletedFinalStateUnknown", key: "ns/b" as ObjectKey, object: pod("b") });
  expect(unfinished.has("job-uid")).toBe(false);
});

test("a pod that changes hands, or is replaced under its name, is not counted twice", () => {
  const unfinished = new UnfinishedPods();
  unfinished.onAdd(pod("a"));
  const moved = owned(pod("a"), { uid: "other-uid" });
  unfinished.onUpdate(pod("a"), moved);
  expect([unfinished.has("job-uid"), unfinished.has("other-uid")]).toEqual([false, true]);
  const successor = mutableCopy(moved);
  successor.metadata.uid = "second";
  unfinished.onUpdate(moved, successor);
  unfinished.onDelete(successor);
  expect(unfinished.has("other-uid")).toBe(false);
});

test("a pod replaced under its name by one with the very same owner references is not counted twice", () => {
  const unfinished = new UnfinishedPods();
  const first = pod("a");
  const second: PodObject = { ...first, metadata: { ...first.metadata, uid: "second" } };
  unfinished.onAdd(first);
  unfinished.onUpdate(first, second);
  unfinished.onDelete(second);
  expect(unfinished.has("job-uid")).toBe(false);
});

test("pods without a controller, or with a controller of another kind, belong to no Job", () => {
  const unfinished = new UnfinishedPods();
  unfinished.onAdd(pod("a", { owned: false }));
  unfinished.onAdd(owned(pod("b"), { kind: "ReplicaSet", uid: "set-uid" }));
  expect(unfinished.has("set-uid")).toBe(false);
});
