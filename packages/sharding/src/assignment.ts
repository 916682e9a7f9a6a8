import { AssignmentError } from "./assignment-error.js";
import { BUCKETS, type Bucket, HASH_NAME } from "./bucket.js";
import { BucketLayout, type NamespaceSplits, unsplitLayout } from "./layout.js";

/** The owner of one bucket. */
export interface Entry {
  /** Identity of the member that owns the bucket; `""`: no owner. */
  readonly owner: string;
  /** Increases by one with each owner. */
  readonly epoch: number;
  /** The member that released the bucket, or that was fenced while it owned the bucket. */
  readonly freedBy?: string;
  /** Members that failed to run the bucket and do not retry it yet: other members acquire it. Never empty. */
  readonly avoids?: readonly string[];
}

/** Owner of every bucket: one object that all members write by compare-and-swap. */
export interface Assignment {
  readonly hash: string;
  readonly buckets: number;
  /** Split namespaces, whose Jobs several members handle. Default: none. */
  readonly splits?: NamespaceSplits;
  /**
   * Indexed by bucket: first the buckets of namespaces, then the cluster bucket, then the parts of split namespaces.
   */
  readonly entries: readonly Entry[];
}

/**
 * Creates an assignment in which no bucket has an owner.
 *
 * @param lastEpoch - The highest epoch in use for any bucket. Default 0.
 */
export function createFreeAssignment({ splits, buckets }: BucketLayout, lastEpoch = 0): Assignment {
  return {
    hash: HASH_NAME,
    buckets: BUCKETS,
    ...(Object.keys(splits).length === 0 ? {} : { splits }),
    entries: buckets.map(() => ({ owner: "", epoch: lastEpoch })),
  };
}

/** An assignment without owners and without split namespaces. */
export const freeAssignment = createFreeAssignment(unsplitLayout);

/** The buckets of an assignment. */
export function layoutOf({ splits }: Assignment): BucketLayout {
  return splits === undefined ? unsplitLayout : new BucketLayout(splits);
}

/** The buckets that `owner` owns. */
export function bucketsOf({ entries }: Assignment, owner: string): readonly Bucket[] {
  return [...entries.keys()].filter((bucket) => entries[bucket]!.owner === owner);
}

/** Formats an assignment as the text in the ConfigMap. */
export function formatAssignment({ hash, buckets, splits, entries }: Assignment): string {
  return JSON.stringify({ hash, buckets, splits, entries });
}

/**
 * Parses the text that a member wrote. Ignores unknown fields.
 *
 * @throws AssignmentError when the text is no assignment, or one of a version with another sharding scheme.
 */
export function parseAssignment(text: string): Assignment {
  let value: Partial<Assignment> | null;
  try {
    value = JSON.parse(text) as Partial<Assignment> | null;
  } catch {
    throw new AssignmentError("the assignment is not JSON: delete the ConfigMap, and a member recreates it");
  }
  const { hash, buckets, splits, entries } = value ?? {};
  if (hash !== HASH_NAME || buckets !== BUCKETS) {
    const theirs = `${String(buckets)} buckets by ${String(hash)}`;
    throw new AssignmentError(
      `the assignment has ${theirs}, this version ${BUCKETS} by ${HASH_NAME}: stop the other version first`,
    );
  }
  const count = parseSplits(splits).buckets.length;
  if (!Array.isArray(entries) || entries.length !== count || !entries.every(isEntry))
    throw new AssignmentError(
      `the assignment has not ${count} entries: delete the ConfigMap, and a member recreates it`,
    );
  return { hash, buckets, ...(splits === undefined ? {} : { splits }), entries };
}

function parseSplits(splits: unknown): BucketLayout {
  try {
    return splits === undefined ? unsplitLayout : new BucketLayout(splits as NamespaceSplits);
  } catch (error) {
    const reason = (error as Error).message;
    throw new AssignmentError(
      `the assignment has splits that cannot be (${reason}): delete the ConfigMap, and a member recreates it`,
      {
        cause: error,
      },
    );
  }
}

function isEntry(value: unknown): value is Entry {
  const { owner, epoch, freedBy, avoids } = (value ?? {}) as Readonly<Record<string, unknown>>;
  return (
    typeof owner === "string" &&
    Number.isSafeInteger(epoch) &&
    (freedBy === undefined || typeof freedBy === "string") &&
    (avoids === undefined || (Array.isArray(avoids) && avoids.every((member) => typeof member === "string")))
  );
}

/** What a member may change: its own entries, entries without owner, and entries of fenced members. */
export interface AssignmentEdits {
  readonly acquire: readonly Bucket[];
  readonly release: readonly Bucket[];
  /** Buckets of {@link release} that this member failed to run. Default: none. */
  readonly failed?: ReadonlySet<Bucket>;
  /** Buckets that this member failed to run before and is ready to retry. Default: none. */
  readonly retry?: ReadonlySet<Bucket>;
  /** Fenced members. Their entries lose their owner, and may be acquired in the same write. */
  readonly fence: ReadonlySet<string>;
}

/**
 * Returns the assignment with the edits applied.
 *
 * @throws Error for an edit of an entry that another live member owns.
 */
export function withEdits(
  assignment: Assignment,
  me: string,
  { acquire, release, fence, failed, retry }: AssignmentEdits,
): Assignment {
  const entries = assignment.entries.map((entry, bucket) => {
    const remaining = withoutAvoids(
      entry,
      (member) => fence.has(member) || (member === me && retry?.has(bucket) === true),
    );
    return fence.has(entry.owner) ? { ...remaining, owner: "", freedBy: entry.owner } : remaining;
  });
  for (const bucket of release) {
    const entry = entries[bucket]!;
    if (entry.owner !== me) throw new Error(`bucket ${bucket} is not ${me}'s to release but ${entry.owner}'s`);
    const { avoids = [] } = entry;
    const released = { ...entry, owner: "", freedBy: me };
    entries[bucket] = failed?.has(bucket) === true ? { ...released, avoids: [...avoids, me] } : released;
  }
  for (const bucket of acquire) {
    const { owner, epoch, avoids } = entries[bucket]!;
    if (owner !== "") throw new Error(`bucket ${bucket} is not ${me}'s to take: ${owner} has it`);
    const acquired: Entry = { owner: me, epoch: epoch + 1, ...(avoids === undefined ? {} : { avoids }) };
    entries[bucket] = withoutAvoids(acquired, (member) => member === me);
  }
  return { ...assignment, entries };
}

/** Removes obsolete members from `avoids`. */
function withoutAvoids(entry: Entry, isObsolete: (member: string) => boolean): Entry {
  const { avoids, ...rest } = entry;
  if (avoids?.some(isObsolete) !== true) return entry;
  const remaining = avoids.filter((member) => !isObsolete(member));
  return remaining.length === 0 ? rest : { ...rest, avoids: remaining };
}
