import type { Mutant } from "./mutant.ts";

export const mutant: Mutant = {
  name: "gc-absent-owner-by-uid",
  entry: "E1",
  issue: "kubernetes/kubernetes#65200",
  sentence:
    "An owner that was looked up in the wrong namespace, and not found, counts as absent for every dependent with its UID: its own dependents are deleted.",
  inPlan: [/"second"/],
  changes: [
    {
      file: "packages/garbage-collector/src/absent-owners.ts",
      find: "return JSON.stringify([apiVersion, kind, namespace, name, uid]);",
      replace: "return uid;",
    },
  ],
};
