import type { Mutant } from "./mutant.ts";

export const mutant: Mutant = {
  name: "job-finished-before-expectations",
  entry: "#7",
  issue: "kubernetes/kubernetes#109485",
  sentence:
    "A Job fails while pods that it has created are not in the cache yet: they keep running, and are never counted.",
  needs: { consistencyGate: "off" },
  inPlan: [/"consistencyGate":false/],
  changes: [
    {
      file: "packages/job/src/reconcile-status.ts",
      find: 'return expectationsSatisfied ? undefined : "ExpectationsPending";',
      replace: "return undefined;",
    },
  ],
};
