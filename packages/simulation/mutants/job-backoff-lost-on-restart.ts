import type { Mutant } from "./mutant.ts";

export const mutant: Mutant = {
  name: "job-backoff-lost-on-restart",
  entry: "#16",
  issue: "kubernetes/kubernetes#114650",
  sentence: "A restarted controller replaces a failed pod without delay: its failure records were in memory only.",
  permitted: true,
  changes: [],
};
