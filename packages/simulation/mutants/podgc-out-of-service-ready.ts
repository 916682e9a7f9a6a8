import type { Mutant } from "./mutant.ts";

export const mutant: Mutant = {
  name: "podgc-out-of-service-ready",
  entry: "own",
  sentence: "A node that is ready loses its terminating pods to a taint.",

  inPlan: [/out-of-service/],
  changes: [
    {
      file: "packages/podgc/src/select-pods.ts",
      find: "return hasTaint && !isNodeReady(node);",
      replace: "return hasTaint;",
    },
  ],
};
