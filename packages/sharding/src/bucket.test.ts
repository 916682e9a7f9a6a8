import { fnv1a64 } from "@kubewright/api";
import { expect, test } from "vitest";

import { BUCKETS, CLUSTER_BUCKET, allBuckets, bucketName, bucketOf, mix64 } from "./bucket.js";

test.each([
  ["default", 53],
  ["ns-a", 45],
  ["ns-b", 50],
  ["kube-system", 56],
])("namespace %s is of bucket %i, in every version", (namespace, bucket) => {
  expect(bucketOf(namespace)).toBe(bucket);
});

test.each([
  ["tenant-", 1000, 4, 1.06],
  ["tenant-", 1000, 8, 1.14],
  ["user-", 10_000, 16, 1.06],
])("%s and %i numbers spread over %i parts: the fullest has %d of the mean", (prefix, count, parts, max) => {
  const sizes = Array.from({ length: parts }, () => 0);
  for (let index = 0; index < count; index++) {
    const name = `${prefix}${String(index).padStart(String(count - 1).length + 1, "0")}`;
    sizes[Number((mix64(fnv1a64(name)) * BigInt(parts)) >> 64n)]!++;
  }
  expect(Math.max(...sizes) / (count / parts)).toBeLessThan(max + 0.06);
});

test("buckets are named as people read them, in the order of their numbers", () => {
  expect(allBuckets).toHaveLength(BUCKETS + 1);
  expect([0, 7, 63, CLUSTER_BUCKET].map(bucketName)).toEqual(["00", "07", "63", "cluster"]);
});
