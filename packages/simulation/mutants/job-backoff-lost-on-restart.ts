import type { Mutant } from "./mutant.ts";

export const mutant: Mutant = {
  name: "job-backoff-lost-on-restart",
  entry: "#16",
  issue: "kubernetes/kubernetes#114650",
  sentence:
    "A controller that starts anew replaces a failed pod without delay: what it knew of failures was in memory alone.",
  permitted: true,
  changes: [],
};
