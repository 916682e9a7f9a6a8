import type { MutantRows } from "../mutant.ts";

/** Known bugs of managers that share work. */
export const SHARDING_MUTANTS: MutantRows = {
  "shard-buckets-taken-by-time": {
    entry: "own",
    sentence: "A member whose Lease was not seen to be renewed counts as fenced although its Lease was not taken over.",
    sharding: 3,
    changes: [
      {
        file: "packages/sharding/src/member-fencing.ts",
        find: "...this.#withoutLease]);",
        replace:
          "...this.#withoutLease, ...this.#options.members.expiredLeases().map((lease) => identityOf(lease)!)]);",
      },
      {
        file: "packages/sharding/src/member-fencing.ts",
        find: "await this.#takeOverExpiredLeases(signal);",
        replace: "",
      },
    ],
  },
  "shard-fence-missing": {
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
  },
  "shard-list-before-barrier": {
    entry: "2.8",
    sentence: "A bucket's new owner begins with lists that may be older than the last writes of the previous owner.",
    sharding: 3,
    inPlan: [/staleList/],
    file: "packages/informer/src/namespace-feed.ts",
    find: "listPages<T>(listPage, { limit: PAGE_SIZE })",
    replace: 'listPages<T>(listPage, { limit: PAGE_SIZE, resourceVersion: "0" })',
  },
  "shard-outages-count": {
    entry: "own",
    sentence: "Time during which a member cannot reach the API server counts as missing renewals of the other members.",
    // It moves buckets without need, and safely: Leases are taken over first.
    permitted: true,
    sharding: 3,
    file: "packages/sharding/src/shard-member.ts",
    find: "this.#members.restartObservation();",
    replace: "",
  },
  "shard-release-before-outcomes": {
    entry: "own",
    sentence: "A bucket is released while a write has an unknown outcome, and the next owner repeats the write.",
    sharding: 3,
    file: "packages/sharding/src/owned-bucket.ts",
    find: "await this.#fence.settled();",
    replace: "",
  },
};
