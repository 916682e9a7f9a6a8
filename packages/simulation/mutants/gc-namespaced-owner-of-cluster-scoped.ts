import type { Mutant } from "./mutant.ts";

export const mutant: Mutant = {
  name: "gc-namespaced-owner-of-cluster-scoped",
  entry: "E1",
  issue: "kubernetes/kubernetes#65200",
  sentence: "A cluster-scoped object that names a namespaced owner is deleted, because that owner is found nowhere.",
  inPlan: [/PriorityClass/],
  changes: [
    {
      file: "packages/garbage-collector/src/live-objects.ts",
      find: 'if (resource.namespaced && identity.namespace === "") throw new NamespacedOwnerError();',
      replace:
        'if (resource.namespaced && identity.namespace === "") identity = { ...identity, namespace: "kube-system" };',
    },
  ],
};
