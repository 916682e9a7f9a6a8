import type { Mutant } from "./mutant.ts";

export const mutant: Mutant = {
  name: "podgc-unscheduled-kept",
  entry: "own",
  sentence:
    "Pods that are being deleted and never got a node are kept: a Job that replaces only failed pods waits forever.",
  inPlan: [/"delete":\{"kind":"Node"/],
  changes: [
    {
      file: "packages/podgc/src/pod-gc-controller.ts",
      find: "const unscheduled = selectUnscheduledTerminatingPods(snapshot);",
      replace: "const unscheduled = selectUnscheduledTerminatingPods([]);",
    },
  ],
};
