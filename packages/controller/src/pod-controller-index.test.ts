import { type Pod, newControllerRef } from "@kubewright/api";
import { expect, test } from "vitest";

import {
  podControllerIndex,
  podControllerIndexKey,
  podControllerIndexValues,
  podsOfController,
} from "./pod-controller-index.js";

const owner = { metadata: { namespace: "default", name: "pi", uid: "u1" } };
const owned: Pod = {
  metadata: {
    namespace: "default",
    name: "a",
    ownerReferences: [newControllerRef(owner, { apiVersion: "batch/v1", kind: "Job" })],
  },
};
const orphan: Pod = { metadata: { namespace: "default", name: "b" } };

/** A lister over these pods with only this index. */
function lister(...pods: Pod[]) {
  return {
    byIndex: (index: string, value: string) =>
      index === podControllerIndex ? pods.filter((pod) => podControllerIndexValues(pod).includes(value)) : [],
  };
}

test("a pod is found under its controller, an orphan under its namespace", () => {
  expect(podControllerIndexValues(owned)).toEqual(["default/Job/pi/u1"]);
  expect(podControllerIndexKey("default", "Job", "pi", "u1")).toBe("default/Job/pi/u1");
  expect(podControllerIndexValues(orphan)).toEqual(["default"]);
});

test("an owner reference that does not control leaves the pod an orphan", () => {
  const reference = { ...owned.metadata.ownerReferences![0]!, controller: false };
  expect(podControllerIndexValues({ metadata: { ...orphan.metadata, ownerReferences: [reference] } })).toEqual([
    "default",
  ]);
});

test("the pods of an owner, with and without the orphans it may claim", () => {
  const pods = lister(owned, orphan, { metadata: { namespace: "other", name: "c" } });
  expect(podsOfController(pods, owner, { kind: "Job" })).toEqual([owned]);
  expect(podsOfController(pods, owner, { kind: "Job", includeOrphans: true })).toEqual([owned, orphan]);
});

test.each([
  ["no owner namespace provided", { name: "pi", uid: "u1" }],
  ["no owner name provided", { namespace: "default", uid: "u1" }],
  ["no owner uid provided", { namespace: "default", name: "pi" }],
])("%s", (message, metadata) => {
  expect(() => podsOfController(lister(), { metadata }, { kind: "Job" })).toThrow(message);
});
