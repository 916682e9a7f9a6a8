import type { Mutant } from "./mutant.ts";

export const mutant: Mutant = {
  name: "shard-fence-missing",
  entry: "2.7",
  sentence: "A write is sent without a check of its bucket's epoch and of the member's own Lease.",
  sharding: 3,
  changes: [
    {
      file: "packages/sharding/src/bucket-fence.ts",
      find: 'this.#state !== "open" ? this.#state : this.#options.holdsLease() ? undefined : "lease";',
      replace: 'this.#state === "not open" ? this.#state : undefined;',
    },
    {
      file: "packages/sharding/src/bucket-fence.ts",
      find: "request.signal === undefined ? [closing] : [request.signal, closing];",
      replace: "request.signal === undefined ? [] : [request.signal];",
    },
  ],
};
