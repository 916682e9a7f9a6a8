import type { Mutant } from "./mutant.ts";

export const mutant: Mutant = {
  name: "lease-wall-clock",
  entry: "own",
  sentence: "Whether a Lease has expired is decided by the time that is written in it.",
  inPlan: [/"controllerManagers"/, /clock(Jump|Skew)/],
  changes: [
    {
      file: "packages/controller/src/leader-elector.ts",
      find: "return this.#validUntilMs() > this.#clock.monotonic();",
      replace: "return this.#observed.renewTimeMs + this.#observed.leaseDurationSeconds * 1000 > this.#clock.now();",
    },
  ],
};
