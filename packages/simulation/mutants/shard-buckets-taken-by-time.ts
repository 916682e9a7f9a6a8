import type { Mutant } from "./mutant.ts";

export const mutant: Mutant = {
  name: "shard-buckets-taken-by-time",
  entry: "own",
  sentence: "A member whose Lease was not seen to be renewed counts as fenced although its Lease was not taken over.",
  sharding: 3,
  changes: [
    {
      file: "packages/sharding/src/member-fencing.ts",
      find: "...this.#withoutLease]);",
      replace: "...this.#withoutLease, ...this.#options.members.expiredLeases().map((lease) => identityOf(lease)!)]);",
    },
    {
      file: "packages/sharding/src/member-fencing.ts",
      find: "await this.#takeOverExpiredLeases(signal);",
      replace: "",
    },
  ],
};
