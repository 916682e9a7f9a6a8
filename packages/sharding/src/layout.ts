import { fnv1a64 } from "@kubewright/api";

import { type Bucket, allBuckets, bucketName, bucketOf, mix64 } from "./bucket.js";

/** Namespaces whose Jobs several members share, each with the number of its parts: 16 namespaces at most, of 2 to 16 parts. */
export type NamespaceSplits = Readonly<Record<string, number>>;

/** A bucket of a namespace that is split: all members that have one see the whole of it, and each works for some of its Jobs. */
export interface NamespacePart {
  readonly namespace: string;
  /** From 0. The first part has also what is not split, such as CronJobs. */
  readonly index: number;
  /** Whether what has this uid, such as a Job, is of this part. */
  readonly has: (uid: string) => boolean;
}

const MAX_NAMESPACES = 16;
const MIN_PARTS = 2;
const MAX_PARTS = 16;
const NAMESPACE_NAME = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/;

/**
 * Which buckets there are: {@link allBuckets}, and behind them the parts of namespaces that are split, in the order of their names.
 * Members that differ in it do not work together.
 */
export class BucketLayout {
  readonly splits: NamespaceSplits;
  /** The splits as people write them, `batch=4,web=2`, the same for the same ones; `""`: nothing is split. */
  readonly text: string;
  readonly buckets: readonly Bucket[];
  /**
   * The same, in groups of which each is shared evenly for itself: the parts of a namespace are of little use where all of them are
   * one member's.
   */
  readonly groups: readonly (readonly Bucket[])[];
  readonly #parts = new Map<Bucket, NamespacePart>();

  /** @throws Error in one line, when a namespace cannot be called so, or there are too many or too few parts. */
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

  /** The bucket that a namespace is in; `undefined`: it is split. */
  bucketOf(namespace: string): Bucket | undefined {
    return Object.hasOwn(this.splits, namespace) ? undefined : bucketOf(namespace);
  }

  /** What part of a namespace a bucket is, if it is one. */
  namespacePartOf(bucket: Bucket): NamespacePart | undefined {
    return this.#parts.get(bucket);
  }

  /** `07`, `cluster`, or `batch/0`. */
  nameOf(bucket: Bucket): string {
    const part = this.#parts.get(bucket);
    return part === undefined ? bucketName(bucket) : `${part.namespace}/${part.index}`;
  }
}

/** In which no namespace is split. */
export const unsplitLayout = new BucketLayout({});

/** Which of so many parts of a namespace has a uid: the remainder of its mixed hash. */
export function partIndexOf(uid: string, parts: number): number {
  return Number(mix64(fnv1a64(uid)) % BigInt(parts));
}
