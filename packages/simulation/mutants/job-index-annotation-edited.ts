import type { Mutant } from "./mutant.ts";

export const mutant: Mutant = {
  name: "job-index-annotation-edited",
  entry: "#20",
  issue: "kubernetes/kubernetes#140839",
  sentence:
    "A pod whose index annotation somebody edits stands for that index, and the one that it was made for is tried again.",
  permitted: true,
  changes: [],
};
