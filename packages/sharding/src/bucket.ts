import { type Hash64, fnv1a64 } from "@kubewright/api";

/**
 * A unit of ownership: a number below {@link BUCKETS} is a part of the namespaces, {@link CLUSTER_BUCKET} what needs all, and those
 * beyond are parts of one namespace each (`BucketLayout`).
 */
export type Bucket = number;

/** Parts of the namespaces: enough for 8 to 16 members. It must not change while anybody runs. */
export const BUCKETS = 64;

/** What cannot be split, such as garbage collection, which goes by owners of all kinds. */
export const CLUSTER_BUCKET: Bucket = BUCKETS;

/** How namespaces come to buckets, as the assignment names it: members that differ in it do not work together. */
export const HASH_NAME = "fnv1a64-murmur3-64";

/** All buckets where no namespace is split, {@link CLUSTER_BUCKET} last. */
export const allBuckets: readonly Bucket[] = Array.from({ length: BUCKETS + 1 }, (_, bucket) => bucket);

/** The bucket of a namespace that is not split: the top six bits of its mixed hash. */
export function bucketOf(namespace: string): Bucket {
  return Number(mix64(fnv1a64(namespace)) >> 58n);
}

/** `07`, or `cluster`. */
export function bucketName(bucket: Bucket): string {
  return bucket === CLUSTER_BUCKET ? "cluster" : String(bucket).padStart(2, "0");
}

/**
 * The 64-bit finaliser of MurmurHash3. FNV-1a hardly stirs its upper bits, by which namespaces that are named alike would all
 * be neighbours.
 */
export function mix64({ high, low }: Hash64): bigint {
  let hash = (BigInt(high) << 32n) | BigInt(low);
  hash = ((hash ^ (hash >> 33n)) * 0xff51afd7ed558ccdn) & MASK;
  hash = ((hash ^ (hash >> 33n)) * 0xc4ceb9fe1a85ec53n) & MASK;
  return hash ^ (hash >> 33n);
}

const MASK = 2n ** 64n - 1n;
