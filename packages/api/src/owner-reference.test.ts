import { expect, test } from "vitest";

import { getControllerOf, isControlledBy, newControllerRef } from "./owner-reference.js";

const owner = { metadata: { name: "pi", uid: "u1" } };

test("the controller is the reference that says so, not the first", () => {
  const controller = newControllerRef(owner, { apiVersion: "batch/v1", kind: "Job" });
  const object = {
    metadata: { ownerReferences: [{ apiVersion: "v1", kind: "ConfigMap", name: "c", uid: "u0" }, controller] },
  };
  expect(getControllerOf(object)).toEqual({
    apiVersion: "batch/v1",
    kind: "Job",
    name: "pi",
    uid: "u1",
    controller: true,
    blockOwnerDeletion: true,
  });
  expect(isControlledBy(object, owner)).toBe(true);
});

test("the controller is compared by UID, so a recreated owner of the same name does not match", () => {
  const object = { metadata: { ownerReferences: [newControllerRef(owner, { apiVersion: "batch/v1", kind: "Job" })] } };
  expect(isControlledBy(object, { metadata: { name: "pi", uid: "u2" } })).toBe(false);
  expect(getControllerOf({ metadata: {} })).toBeUndefined();
});

test("an owner that was never stored is named, with what it lacks", () => {
  const type = { apiVersion: "batch/v1", kind: "Job" };
  const fix = "an owner has to be as the API server stored it";
  expect(() => newControllerRef({ metadata: { namespace: "default", name: "pi" } }, type)).toThrow(
    `Job default/pi has no UID: ${fix}`,
  );
  expect(() => newControllerRef({ metadata: { name: "pi", uid: "" } }, type)).toThrow(`Job pi has no UID: ${fix}`);
  expect(() => newControllerRef({ metadata: { generateName: "pi-" } }, type)).toThrow(
    `the Job to be the owner has no name: ${fix}`,
  );
});
