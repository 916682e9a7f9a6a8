import { type Hash64, fnv1a64 } from "@kubewright/api";

/**
 * A unit of ownership. A number below {@link BUCKETS} is a hash range of namespaces, {@link CLUSTER_BUCKET} the work
 * that needs the whole cluster. Each higher number is one part of a split namespace (`BucketLayout`).
 */
export type Bucket = number;

/** Number of buckets of namespaces: enough for 8 to 16 members. It must not change while a member runs. */
export const BUCKETS = 64;

/** Work that cannot be split, such as garbage collection, which follows owners of all kinds. */
export const CLUSTER_BUCKET: Bucket = BUCKETS;

/** Name of the hash of namespaces in the assignment: members with different hashes do not work together. */
export const HASH_NAME = "fnv1a64-murmur3-64";

/** All buckets of a layout without split namespaces, {@link CLUSTER_BUCKET} last. */
export const allBuckets: readonly Bucket[] = Array.from({ length: BUCKETS + 1 }, (_, bucket) => bucket);

/** The bucket of a namespace that is not split: the top six bits of its mixed hash. */
export function bucketOf(namespace: string): Bucket {
  return Number(mix64(fnv1a64(namespace)) >> 58n);
}

/** Name of a bucket without parts: `07`, or `cluster`. */
export function bucketName(bucket: Bucket): string {
  return bucket === CLUSTER_BUCKET ? "cluster" : String(bucket).padStart(2, "0");
}

/**
 * The 64-bit finaliser of MurmurHash3. FNV-1a changes its upper bits little, so similar namespace names would all be in
 * one bucket.
 */
export function mix64({ high, low }: Hash64): bigint {
  let hash = (BigInt(high) << 32n) | BigInt(low);
  hash = ((hash ^ (hash >> 33n)) * 0xff51afd7ed558ccdn) & MASK;
  hash = ((hash ^ (hash >> 33n)) * 0xc4ceb9fe1a85ec53n) & MASK;
  return hash ^ (hash >> 33n);
}

const MASK = 2n ** 64n - 1n;
