import { expect, test } from "vitest";

import { allBuckets, bucketOf } from "./bucket.js";
import { BucketLayout, partIndexOf, unsplitLayout } from "./layout.js";

test("parts of split namespaces follow all other buckets, ordered by namespace", () => {
  const layout = new BucketLayout({ web: 2, batch: 3 });
  expect(layout.buckets.slice(0, 65)).toEqual(allBuckets);
  expect(layout.buckets.slice(63).map((bucket) => layout.nameOf(bucket))).toEqual([
    "63",
    "cluster",
    "batch/0",
    "batch/1",
    "batch/2",
    "web/0",
    "web/1",
  ]);
  expect(layout.text).toBe("batch=3,web=2");
  expect(layout.namespacePartOf(68)).toMatchObject({ namespace: "web", index: 0 });
  expect(layout.namespacePartOf(7)).toBeUndefined();
});

test("a namespace that is split is in none of the other buckets, and all others stay where they are", () => {
  const layout = new BucketLayout({ batch: 3 });
  expect(layout.bucketOf("batch")).toBeUndefined();
  expect(layout.bucketOf("default")).toBe(bucketOf("default"));
  expect([unsplitLayout.buckets, unsplitLayout.bucketOf("batch"), unsplitLayout.text]).toEqual([
    allBuckets,
    bucketOf("batch"),
    "",
  ]);
});

test.each([
  ["aaaaaaaa-bbbb-cccc-dddd-eeeeeeeeeeee", 4, 0],
  ["00000000-0000-0000-0000-000000000000", 4, 0],
  ["00000000-0000-0000-0000-000000000001", 4, 3],
  ["00000000-0000-0000-0000-000000000001", 16, 7],
])("uid %s is of %i parts part %i, in every version", (uid, parts, part) => {
  expect(partIndexOf(uid, parts)).toBe(part);
});

test("each uid is of exactly one part, and parts are about as large as each other", () => {
  const layout = new BucketLayout({ batch: 4 });
  const parts = layout.buckets.slice(65).map((bucket) => layout.namespacePartOf(bucket)!);
  const counts = [0, 0, 0, 0];
  for (let index = 0; index < 4000; index++) {
    const uid = `6f1c2a90-5d1e-4c7b-9b1f-${String(index).padStart(12, "0")}`;
    const owners = parts.filter(({ has }) => has(uid));
    expect(owners).toHaveLength(1);
    counts[owners[0]!.index]!++;
  }
  expect(Math.min(...counts)).toBeGreaterThan(900);
});

test.each([
  [{ batch: 1 }, "namespace batch has 1 parts: it must be 2 to 16"],
  [{ batch: 17 }, "namespace batch has 17 parts: it must be 2 to 16"],
  [{ batch: 2.5 }, "namespace batch has 2.5 parts: it must be 2 to 16"],
  [{ Batch: 2 }, '"Batch" is no name of a namespace'],
  [{ "": 2 }, '"" is no name of a namespace'],
  [
    Object.fromEntries(Array.from({ length: 17 }, (_, index) => [`ns-${index}`, 2])),
    "17 namespaces are split: at most 16 can be",
  ],
])("%j is refused in words", (splits, message) => {
  expect(() => new BucketLayout(splits)).toThrow(new Error(message));
});
