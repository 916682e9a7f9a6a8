import { BUCKETS, type Bucket, HASH_NAME, allBuckets } from "./bucket.js";

/** Who has a bucket. */
export interface Entry {
  /** The identity of a member; `""`: nobody. */
  readonly owner: string;
  /** Goes up by one with each owner. */
  readonly epoch: number;
  /** Who gave it up, or whose death freed it. */
  readonly freedBy?: string;
  /** Who could not work for it: it is for others to try. */
  readonly avoids?: string;
}

/** Who has which bucket: one object that all members write by compare-and-swap. */
export interface Assignment {
  readonly hash: string;
  readonly buckets: number;
  /** By bucket; that of the whole cluster last. */
  readonly entries: readonly Entry[];
}

/** In which nobody has anything. */
export const freeAssignment: Assignment = {
  hash: HASH_NAME,
  buckets: BUCKETS,
  entries: allBuckets.map(() => ({ owner: "", epoch: 0 })),
};

/** The buckets that somebody has. */
export function bucketsOf({ entries }: Assignment, owner: string): readonly Bucket[] {
  return allBuckets.filter((bucket) => entries[bucket]?.owner === owner);
}

/** What members write, as the text of the ConfigMap's value. */
export function formatAssignment({ hash, buckets, entries }: Assignment): string {
  return JSON.stringify({ hash, buckets, entries });
}

/**
 * Reads what a member wrote. Members that it does not know are let be.
 *
 * @throws Error in one line, when it is no assignment, or one of a version that shards in another way.
 */
export function parseAssignment(text: string): Assignment {
  let value: Partial<Assignment> | null;
  try {
    value = JSON.parse(text) as Partial<Assignment> | null;
  } catch {
    throw new Error("the assignment is not JSON: delete the ConfigMap, and it is made anew");
  }
  const { hash, buckets, entries } = value ?? {};
  if (hash !== HASH_NAME || buckets !== BUCKETS) {
    const theirs = `${String(buckets)} buckets by ${String(hash)}`;
    throw new Error(
      `the assignment has ${theirs}, this version ${BUCKETS} by ${HASH_NAME}: stop the other version first`,
    );
  }
  if (!Array.isArray(entries) || entries.length !== allBuckets.length || !entries.every(isEntry))
    throw new Error(`the assignment has not ${allBuckets.length} entries: delete the ConfigMap, and it is made anew`);
  return { hash, buckets, entries };
}

function isEntry(value: unknown): value is Entry {
  const { owner, epoch, freedBy, avoids } = (value ?? {}) as Readonly<Record<string, unknown>>;
  return (
    typeof owner === "string" &&
    Number.isSafeInteger(epoch) &&
    (freedBy === undefined || typeof freedBy === "string") &&
    (avoids === undefined || typeof avoids === "string")
  );
}

/** What a member may change: its own entries, those of nobody, and those of the dead. */
export interface AssignmentEdits {
  readonly take: readonly Bucket[];
  readonly release: readonly Bucket[];
  /** Those of {@link release} that this member could not work for. Default: none. */
  readonly failed?: ReadonlySet<Bucket>;
  /** Members whose entries are nobody's from now on. What is taken of them is taken in the same write. */
  readonly bury: ReadonlySet<string>;
}

/**
 * The assignment with the edits made.
 *
 * @throws Error for an edit of an entry that a living other has.
 */
export function withEdits(
  assignment: Assignment,
  me: string,
  { take, release, bury, failed }: AssignmentEdits,
): Assignment {
  const entries = assignment.entries.map((entry) =>
    bury.has(entry.owner) ? { ...entry, owner: "", freedBy: entry.owner } : entry,
  );
  for (const bucket of release) {
    const entry = entries[bucket]!;
    if (entry.owner !== me) throw new Error(`bucket ${bucket} is not ${me}'s to release but ${entry.owner}'s`);
    entries[bucket] = { ...entry, owner: "", freedBy: me, ...(failed?.has(bucket) === true ? { avoids: me } : {}) };
  }
  for (const bucket of take) {
    const { owner, epoch, avoids = me } = entries[bucket]!;
    if (owner !== "") throw new Error(`bucket ${bucket} is not ${me}'s to take: ${owner} has it`);
    entries[bucket] = { owner: me, epoch: epoch + 1, ...(avoids === me ? {} : { avoids }) };
  }
  return { ...assignment, entries };
}
