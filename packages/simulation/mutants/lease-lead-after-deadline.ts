import type { Mutant } from "./mutant.ts";

export const mutant: Mutant = {
  name: "lease-lead-after-deadline",
  entry: "E9c",
  issue: "kubernetes/kubernetes#44887",
  sentence: "A leader that could not renew its Lease in time continues to lead and to retry.",
  inPlan: [/controllerManagers/],
  changes: [
    {
      file: "packages/controller/src/leader-elector.ts",
      find: "const deadlineMs = startMs + this.#renewDeadlineMs;",
      replace: "const deadlineMs = Number.POSITIVE_INFINITY;",
    },
    {
      file: "packages/controller/src/leader-elector.ts",
      find: "return this.isLeader && this.#clock.monotonic() - this.#renewedMs < this.#renewDeadlineMs;",
      replace: "return this.isLeader;",
    },
  ],
};
