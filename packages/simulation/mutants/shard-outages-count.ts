import type { Mutant } from "./mutant.ts";

export const mutant: Mutant = {
  name: "shard-outages-count",
  entry: "own",
  sentence: "Time during which a member cannot reach the API server counts as missing renewals of the other members.",
  // It moves buckets without need, and safely: Leases are taken over first.
  permitted: true,
  sharding: 3,
  changes: [
    {
      file: "packages/sharding/src/shard-member.ts",
      find: "this.#members.restartObservation();",
      replace: "",
    },
  ],
};
