import type { Mutant } from "./mutant.ts";

export const mutant: Mutant = {
  name: "gc-cluster-scoped-owner-absent",
  entry: "own",
  issue: "kubernetes/kubernetes#57211",
  sentence: "A cluster-scoped owner of a namespaced object counts as absent.",
  inPlan: [/of-node/],
  changes: [
    {
      file: "packages/garbage-collector/src/attempt-to-delete.ts",
      find: "  const identity = live.resourceOf(reference).namespaced ? namespaced : clusterScoped;",
      replace:
        '  const identity = namespaced;\n  if (!live.resourceOf(reference).namespaced && dependent.namespace !== "") {\n    absentOwners.add(clusterScoped);\n    return undefined;\n  }',
    },
  ],
};
