import { namespaces, secrets } from "@kubewright/api";
import { expect, test } from "vitest";

import { backups } from "../test/backups.js";
import { ownerReference } from "./index.js";

test("an owner is named by its definition, for a custom resource and for a built-in one", () => {
  const metadata = { name: "nightly", uid: "u1" };
  expect(ownerReference(backups, { metadata, spec: { volume: "v" } })).toEqual({
    apiVersion: "example.com/v1",
    kind: "Backup",
    name: "nightly",
    uid: "u1",
    controller: true,
    blockOwnerDeletion: true,
  });
  expect(ownerReference(namespaces, { metadata }, { controller: false })).toEqual({
    apiVersion: "v1",
    kind: "Namespace",
    name: "nightly",
    uid: "u1",
  });
});

test("what is not stored yet can own nothing", () => {
  expect(() => ownerReference(secrets, { metadata: { name: "draft" } })).toThrow(
    "Secret draft has no UID: an owner has to be as the API server stored it",
  );
});
