import type { Mutant } from "./mutant.ts";

export const mutant: Mutant = {
  name: "gc-terminating-does-not-block",
  entry: "own",
  sentence: "A foreground deletion does not wait for dependents that are being deleted already.",
  inPlan: [/Foreground|ttlSeconds/],
  changes: [
    {
      file: "packages/garbage-collector/src/attempt-to-delete.ts",
      find: "  if (node.isBlocked) {",
      replace:
        "  if (node.isBlocked && [...node.dependents].some((each) => node.isBlockedBy(each) && !each.beingDeleted)) {",
    },
  ],
};
