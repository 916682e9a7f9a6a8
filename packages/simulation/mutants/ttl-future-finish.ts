import type { Mutant } from "./mutant.ts";

export const mutant: Mutant = {
  name: "ttl-future-finish",
  entry: "3.1",
  sentence: "A Job that finished in the future, by another clock, is deleted immediately.",
  inPlan: [/ttlSecondsAfterFinished/, /clock(Jump|Skew)/],
  changes: [
    {
      file: "packages/ttl-after-finished/src/time-left.ts",
      find: "const remainingMs = expiredMs - nowMs;",
      replace: "const remainingMs = finishedMs > nowMs ? 0 : expiredMs - nowMs;",
    },
  ],
};
