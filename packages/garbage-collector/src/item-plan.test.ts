import { expect, test } from "vitest";

import { type ClassifiedReferences, classifyOwner, planItem } from "./item-plan.js";

function references(solid: string[], dangling: string[], waiting: string[]): ClassifiedReferences {
  const all = (names: string[]) =>
    names.map((name) => ({ apiVersion: "v1", kind: "ConfigMap", name, uid: `uid-${name}` }));
  return { solid: all(solid), dangling: all(dangling), waiting: all(waiting) };
}

const leaf: { deletingDependents: boolean }[] = [];
const parent = [{ deletingDependents: false }];
const inCycle = [{ deletingDependents: false }, { deletingDependents: true }];

test.each([
  ["is kept by a solid owner", references(["s"], [], []), leaf, [], { action: "keep" }],
  [
    "loses its other references when one owner is solid",
    references(["s"], ["d"], ["w"]),
    parent,
    [],
    {
      action: "removeReferences",
      ownerUids: ["uid-d", "uid-w"],
      reason:
        "owner ConfigMap s is still there, but owner ConfigMap d is gone, owner ConfigMap w is being deleted in the foreground",
    },
  ],
  [
    "is deleted when all owners are gone",
    references([], ["d", "e"], []),
    parent,
    [],
    { action: "delete", propagationPolicy: "Background", reason: "owners ConfigMap d, ConfigMap e are gone" },
  ],
  [
    "is deleted in the background when an owner waits and it has no dependents",
    references([], ["d"], ["w"]),
    leaf,
    [],
    { action: "delete", propagationPolicy: "Background" },
  ],
  [
    "is deleted in the foreground when an owner waits and it has dependents",
    references([], [], ["w"]),
    parent,
    [],
    { action: "delete", propagationPolicy: "Foreground", unblockOwners: false },
  ],
  [
    "lets its owners go first when they may wait for each other",
    references([], [], ["w"]),
    inCycle,
    [],
    { action: "delete", propagationPolicy: "Foreground", unblockOwners: true },
  ],
  [
    "orphans if it was to",
    references([], ["d"], []),
    leaf,
    ["orphan"],
    { action: "delete", propagationPolicy: "Orphan" },
  ],
  [
    "waits for its dependents if it was to",
    references([], ["d"], []),
    leaf,
    ["foregroundDeletion"],
    { action: "delete", propagationPolicy: "Foreground" },
  ],
] as const)("an object %s", (_title, classified, dependents, finalizers, expected) => {
  expect(planItem(classified, { finalizers: [...finalizers] }, dependents)).toMatchObject(expected);
});

test("an owner waits only while it is being deleted in the foreground", () => {
  const deletionTimestamp = "2026-01-01T00:00:00Z";
  expect(classifyOwner({})).toBe("solid");
  expect(classifyOwner({ deletionTimestamp, finalizers: ["example.com/hold"] })).toBe("solid");
  expect(classifyOwner({ finalizers: ["foregroundDeletion"] })).toBe("solid");
  expect(classifyOwner({ deletionTimestamp, finalizers: ["foregroundDeletion"] })).toBe("waiting");
});
