import { expect, test } from "vitest";

import { AbsentOwners } from "./absent-owners.js";

const owner = (uid: string, namespace = "ns") => ({ apiVersion: "v1", kind: "ConfigMap", namespace, name: "n", uid });

test("an owner is identified by its whole identity", () => {
  const absent = new AbsentOwners();
  absent.add(owner("a"));
  expect(absent.has(owner("a"))).toBe(true);
  expect(absent.has(owner("a", ""))).toBe(false);
  expect(absent.has({ ...owner("a"), kind: "Secret" })).toBe(false);
});

test("those used last are kept", () => {
  const absent = new AbsentOwners(2);
  absent.add(owner("a"));
  absent.add(owner("b"));
  expect(absent.has(owner("a"))).toBe(true);
  absent.add(owner("c"));
  expect(["a", "b", "c"].map((uid) => absent.has(owner(uid)))).toEqual([true, false, true]);
});

test("several with one UID are remembered each for itself", () => {
  const absent = new AbsentOwners(3);
  absent.add(owner("a"));
  absent.add(owner("a", ""));
  absent.add({ ...owner("a"), apiVersion: "v2" });
  expect([absent.has(owner("a")), absent.has(owner("a", ""))]).toEqual([true, true]);
  expect(absent.has({ ...owner("a"), apiVersion: "v2" })).toBe(true);
  absent.add(owner("b"));
  expect([absent.has(owner("a")), absent.has(owner("a", ""))]).toEqual([false, true]);
});

test("identities whose concatenated fields are equal are distinguished", () => {
  const absent = new AbsentOwners();
  absent.add({ ...owner("a"), kind: "A", name: "B n" });
  expect(absent.has({ ...owner("a"), kind: "A B", name: "n" })).toBe(false);
});
