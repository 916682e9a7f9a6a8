import { BUCKETS, type Bucket, HASH_NAME } from "./bucket.js";
import { BucketLayout, type NamespaceSplits, unsplitLayout } from "./layout.js";

/** Who has a bucket. */
export interface Entry {
  /** The identity of a member; `""`: nobody. */
  readonly owner: string;
  /** Goes up by one with each owner. */
  readonly epoch: number;
  /** Who gave it up, or whose death freed it. */
  readonly freedBy?: string;
  /** Who could not work for it, and would not try again yet: it is for others. Never empty. */
  readonly avoids?: readonly string[];
}

/** Who has which bucket: one object that all members write by compare-and-swap. */
export interface Assignment {
  readonly hash: string;
  readonly buckets: number;
  /** Namespaces whose Jobs several share. Default: none. */
  readonly splits?: NamespaceSplits;
  /** By bucket: those of namespaces, that of the whole cluster, and then the parts of namespaces that are split. */
  readonly entries: readonly Entry[];
}

/**
 * In which nobody has anything.
 *
 * @lastEpoch lastEpoch - The last that was used of any bucket.
 */
export function createFreeAssignment({ splits, buckets }: BucketLayout, lastEpoch = 0): Assignment {
  return {
    hash: HASH_NAME,
    buckets: BUCKETS,
    ...(Object.keys(splits).length === 0 ? {} : { splits }),
    entries: buckets.map(() => ({ owner: "", epoch: lastEpoch })),
  };
}

/** In which nobody has anything, and no namespace is split. */
export const freeAssignment = createFreeAssignment(unsplitLayout);

/** Which buckets it has. */
export function layoutOf({ splits }: Assignment): BucketLayout {
  return splits === undefined ? unsplitLayout : new BucketLayout(splits);
}

/** The buckets that somebody has. */
export function bucketsOf({ entries }: Assignment, owner: string): readonly Bucket[] {
  return [...entries.keys()].filter((bucket) => entries[bucket]!.owner === owner);
}

/** What members write, as the text of the ConfigMap's value. */
export function formatAssignment({ hash, buckets, splits, entries }: Assignment): string {
  return JSON.stringify({ hash, buckets, splits, entries });
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
    throw new Error("the assignment is not JSON: delete the ConfigMap, and a member recreates it");
  }
  const { hash, buckets, splits, entries } = value ?? {};
  if (hash !== HASH_NAME || buckets !== BUCKETS) {
    const theirs = `${String(buckets)} buckets by ${String(hash)}`;
    throw new Error(
      `the assignment has ${theirs}, this version ${BUCKETS} by ${HASH_NAME}: stop the other version first`,
    );
  }
  const count = parseSplits(splits).buckets.length;
  if (!Array.isArray(entries) || entries.length !== count || !entries.every(isEntry))
    throw new Error(`the assignment has not ${count} entries: delete the ConfigMap, and a member recreates it`);
  return { hash, buckets, ...(splits === undefined ? {} : { splits }), entries };
}

function parseSplits(splits: unknown): BucketLayout {
  try {
    return splits === undefined ? unsplitLayout : new BucketLayout(splits as NamespaceSplits);
  } catch (error) {
    const reason = (error as Error).message;
    throw new Error(`the assignment has splits that cannot be (${reason}): delete the ConfigMap, and a member recreates it`, {
      cause: error,
    });
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

/** What a member may change: its own entries, those of nobody, and those of the dead. */
export interface AssignmentEdits {
  readonly acquire: readonly Bucket[];
  readonly release: readonly Bucket[];
  /** Those of {@link release} that this member could not work for. Default: none. */
  readonly failed?: ReadonlySet<Bucket>;
  /** Those that this member would try again, though it could not work for them before. Default: none. */
  readonly retry?: ReadonlySet<Bucket>;
  /** Members whose entries are nobody's from now on. What is taken of them is taken in the same write. */
  readonly fence: ReadonlySet<string>;
}

/**
 * The assignment with the edits made.
 *
 * @throws Error for an edit of an entry that a living other has.
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

/** The entry, with those out of mind that it need not be kept from any more. */
function withoutAvoids(entry: Entry, isObsolete: (member: string) => boolean): Entry {
  const { avoids, ...rest } = entry;
  if (avoids?.some(isObsolete) !== true) return entry;
  const remaining = avoids.filter((member) => !isObsolete(member));
  return remaining.length === 0 ? rest : { ...rest, avoids: remaining };
}
