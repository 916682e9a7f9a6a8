import type { Mutant } from "./mutant.ts";

export const mutant: Mutant = {
  name: "queue-never-forgets",
  entry: "own",
  sentence: "Success does not end the record of failures: each later one is waited for longer.",
  inPlan: [/requestFails|apiServer/],
  changes: [
    {
      file: "packages/controller/src/reconcile-loop.ts",
      find: "if (result?.keepFailures !== true) this.#queue.forget(key);",
      replace: "",
    },
  ],
};
