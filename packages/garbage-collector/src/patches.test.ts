import { expect, test } from "vitest";

import { deleteReferencesMergePatch, removeFinalizerPatch, unblockReferencesMergePatch } from "./patches.js";

const owner = (uid: string, more: object = {}) => ({ apiVersion: "v1", kind: "ConfigMap", name: uid, uid, ...more });

test("lists that would be empty are null in merge patches", () => {
  const metadata = { resourceVersion: "7", ownerReferences: [owner("a")], finalizers: ["orphan"] };
  const ownerReferences = null;
  expect(deleteReferencesMergePatch(metadata, ["a"])).toEqual({ metadata: { resourceVersion: "7", ownerReferences } });
  expect(unblockReferencesMergePatch(metadata, [])).toEqual({ metadata: { resourceVersion: "7", ownerReferences } });
  expect(removeFinalizerPatch(metadata, "orphan")).toEqual({ metadata: { resourceVersion: "7", finalizers: null } });
});

test("what remains is sent as it is, and all references are made not to block", () => {
  const references = [owner("a", { controller: true, blockOwnerDeletion: true }), owner("b")];
  const metadata = { resourceVersion: "7", ownerReferences: references };
  expect(deleteReferencesMergePatch(metadata, ["b"])).toEqual({
    metadata: { resourceVersion: "7", ownerReferences: [references[0]] },
  });
  expect(unblockReferencesMergePatch(metadata, references)).toEqual({
    metadata: {
      resourceVersion: "7",
      ownerReferences: references.map((reference) => ({ ...reference, blockOwnerDeletion: false })),
    },
  });
});
