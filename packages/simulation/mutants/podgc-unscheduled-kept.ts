import type { Mutant } from "./mutant.ts";

export const mutant: Mutant = {
  name: "podgc-unscheduled-kept",
  entry: "own",
  sentence:
    "Pods that are being deleted and never got a node are let be: a Job that replaces only failed ones waits for ever.",
  inPlan: [/"delete":\{"kind":"Node"/],
  changes: [
    {
      file: "packages/podgc/src/pod-gc-controller.ts",
      find: "const unscheduled = selectUnscheduledTerminatingPods(snapshot);",
      replace: "const unscheduled = selectUnscheduledTerminatingPods([]);",
    },
  ],
};
