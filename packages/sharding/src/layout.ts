import { fnv1a64 } from "@kubewright/api";

import { type Bucket, allBuckets, bucketName, bucketOf, mix64 } from "./bucket.js";

/**
 * Split namespaces, whose Jobs several members handle, with their number of parts: at most 16 namespaces of 2 to 16
 * parts.
 */
export type NamespaceSplits = Readonly<Record<string, number>>;

/**
 * One part of a split namespace. All members that own a part cache the whole namespace, and each handles some of its
 * Jobs.
 */
export interface NamespacePart {
  readonly namespace: string;
  /** Starts at 0. Part 0 also has everything that is not split, such as CronJobs. */
  readonly index: number;
  /** Whether the object with this UID, such as a Job, belongs to this part. */
  readonly has: (uid: string) => boolean;
}

const MAX_NAMESPACES = 16;
const MIN_PARTS = 2;
const MAX_PARTS = 16;
const NAMESPACE_NAME = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/;

/**
 * The buckets: {@link allBuckets}, followed by the parts of split namespaces, ordered by namespace. Members with
 * different layouts do not work together.
 */
export class BucketLayout {
  readonly splits: NamespaceSplits;
  /** The splits in the form of the flag, `batch=4,web=2`, in canonical order; `""`: no namespace is split. */
  readonly text: string;
  readonly buckets: readonly Bucket[];
  /**
   * The buckets in groups. Each group is distributed evenly by itself, because one member that owns all parts of a
   * namespace would defeat the split.
   */
  readonly groups: readonly (readonly Bucket[])[];
  readonly #parts = new Map<Bucket, NamespacePart>();

  /**
   * @throws Error with a one-line message for an invalid namespace name, too many namespaces, or an invalid number of
   * parts.
   */
  constructor(splits: NamespaceSplits) {
    const sorted = Object.entries(splits).sort(([a], [b]) => (a < b ? -1 : 1));
    if (sorted.length > MAX_NAMESPACES)
      throw new Error(`${sorted.length} namespaces are split: at most ${MAX_NAMESPACES} can be`);
    const groups = [allBuckets];
    let next = allBuckets.length;
    for (const [namespace, parts] of sorted) {
      if (!NAMESPACE_NAME.test(namespace)) throw new Error(`${JSON.stringify(namespace)} is no name of a namespace`);
      if (!Number.isInteger(parts) || parts < MIN_PARTS || parts > MAX_PARTS)
        throw new Error(`namespace ${namespace} has ${parts} parts: it must be ${MIN_PARTS} to ${MAX_PARTS}`);
      const group: Bucket[] = [];
      for (let index = 0; index < parts; index++) {
        this.#parts.set(next, { namespace, index, has: (uid) => partIndexOf(uid, parts) === index });
        group.push(next++);
      }
      groups.push(group);
    }
    this.splits = Object.fromEntries(sorted);
    this.text = sorted.map(([namespace, parts]) => `${namespace}=${parts}`).join(",");
    this.groups = groups;
    this.buckets = sorted.length === 0 ? allBuckets : groups.flat();
  }

  /** The bucket of a namespace; `undefined`: the namespace is split. */
  bucketOf(namespace: string): Bucket | undefined {
    return Object.hasOwn(this.splits, namespace) ? undefined : bucketOf(namespace);
  }

  /** The namespace part of a bucket; `undefined`: the bucket is no part. */
  namespacePartOf(bucket: Bucket): NamespacePart | undefined {
    return this.#parts.get(bucket);
  }

  /** Name of a bucket: `07`, `cluster`, or `batch/0`. */
  nameOf(bucket: Bucket): string {
    const part = this.#parts.get(bucket);
    return part === undefined ? bucketName(bucket) : `${part.namespace}/${part.index}`;
  }
}

/** The layout without split namespaces. */
export const unsplitLayout = new BucketLayout({});

/** Index of the part of a namespace that a UID belongs to: the mixed hash modulo `parts`. */
export function partIndexOf(uid: string, parts: number): number {
  return Number(mix64(fnv1a64(uid)) % BigInt(parts));
}
