import type { Mutant } from "./mutant.ts";

export const mutant: Mutant = {
  name: "gc-absent-owner-by-uid",
  entry: "E1",
  issue: "kubernetes/kubernetes#65200",
  sentence:
    "An owner that was looked for in the wrong place, and not found, counts as gone for all who name its UID: its own dependents are deleted.",
  inPlan: [/"second"/],
  changes: [
    {
      file: "packages/garbage-collector/src/absent-owners.ts",
      find: "return JSON.stringify([apiVersion, kind, namespace, name, uid]);",
      replace: "return uid;",
    },
  ],
};
