import { expect, test } from "vitest";

import { uidOf, withOwnerUids } from "./owner-uids.js";

const child = (uid: string) => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name: "child", ownerReferences: [{ apiVersion: "batch/v1", kind: "Job", name: "pi", uid }] },
});

test("an owner named by a plan gets the UID it has in the run", () => {
  const asked: unknown[] = [];
  const filled = withOwnerUids(child(uidOf({ namespace: "second", name: "pi" })), (owner) => {
    asked.push(owner);
    return "1234";
  });
  expect(filled).toEqual(child("1234"));
  expect(asked).toEqual([{ apiVersion: "batch/v1", kind: "Job", namespace: "second", name: "pi" }]);
});

test("an owner that is not there keeps a UID that nobody has, and one that is written out keeps its own", () => {
  const absent = child("uid of default/pi");
  expect(withOwnerUids(absent, () => undefined)).toEqual(absent);
  const written = child("abcd");
  expect(withOwnerUids(written, () => "1234")).toBe(written);
});
