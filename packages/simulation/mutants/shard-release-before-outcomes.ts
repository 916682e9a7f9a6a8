import type { Mutant } from "./mutant.ts";

export const mutant: Mutant = {
  name: "shard-release-before-outcomes",
  entry: "own",
  sentence: "A bucket is released while a write has an unknown outcome, and the next owner repeats the write.",
  sharding: 3,
  changes: [
    {
      file: "packages/sharding/src/owned-bucket.ts",
      find: "await this.#fence.settled();",
      replace: "",
    },
  ],
};
