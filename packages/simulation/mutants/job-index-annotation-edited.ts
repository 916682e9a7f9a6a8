import type { Mutant } from "./mutant.ts";

export const mutant: Mutant = {
  name: "job-index-annotation-edited",
  entry: "#20",
  issue: "kubernetes/kubernetes#140839",
  sentence: "A pod whose index annotation a user edits counts for that index, and its original index is retried.",
  permitted: true,
  changes: [],
};
