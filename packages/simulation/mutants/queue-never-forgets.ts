import type { Mutant } from "./mutant.ts";

export const mutant: Mutant = {
  name: "queue-never-forgets",
  entry: "own",
  sentence: "A success does not reset the failure count of a key: each later failure waits longer.",
  inPlan: [/requestFails|apiServer/],
  changes: [
    {
      file: "packages/controller/src/reconcile-loop.ts",
      find: "if (result?.keepFailures !== true) this.#queue.forget(key);",
      replace: "",
    },
  ],
};
