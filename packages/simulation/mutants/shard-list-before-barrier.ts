import type { Mutant } from "./mutant.ts";

export const mutant: Mutant = {
  name: "shard-list-before-barrier",
  entry: "2.8",
  sentence: "A bucket's new owner begins with lists that may be older than the last writes of the previous owner.",
  sharding: 3,
  inPlan: [/staleList/],
  changes: [
    {
      file: "packages/informer/src/namespace-feed.ts",
      find: "listPages<T>(listPage, { limit: PAGE_SIZE })",
      replace: 'listPages<T>(listPage, { limit: PAGE_SIZE, resourceVersion: "0" })',
    },
  ],
};
