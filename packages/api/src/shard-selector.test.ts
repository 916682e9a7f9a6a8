import * as fc from "fast-check";
import { expect, test } from "vitest";

import {
  HASH_END,
  type Hash64,
  compareHashes,
  fnv1a64,
  formatHash,
  formatShardSelector,
  namespaceShard,
  shardMatcher,
} from "./shard-selector.js";

test.each([
  ["", "0xcbf29ce484222325"],
  ["abc", "0xe71fa2190541574b"],
  ["default", "0xebada5168620c5fe"],
  ["kube-system", "0xdf65c7bc1d82b35e"],
  ["ns-a", "0x4a8287ba48e20b30"],
  ["ns-b", "0x4a828aba48e21049"],
  ["ns-c", "0x4a8289ba48e20e96"],
  ["aaaaaaaa-bbbb-cccc-dddd-eeeeeeeeeeee", "0x93754b7248a00eb9"],
])("%j hashes as Kubernetes hashes it", (text, hash) => {
  expect(formatHash(fnv1a64(text))).toBe(hash);
});

test("any text hashes to FNV-1a of its UTF-8 bytes", () => {
  fc.assert(
    fc.property(fc.string({ unit: "grapheme" }), (text) => {
      let hash = 0xcbf29ce484222325n;
      for (const byte of new TextEncoder().encode(text))
        hash = BigInt.asUintN(64, (hash ^ BigInt(byte)) * 0x100000001b3n);
      expect(formatHash(fnv1a64(text))).toBe(`0x${hash.toString(16).padStart(16, "0")}`);
    }),
  );
});

const hash = fc.record({ high: fc.integer({ min: 0, max: 2 ** 32 - 1 }), low: fc.integer({ min: 0, max: 7 }) });
const range = fc
  .tuple(hash, fc.oneof(hash, fc.constant<Hash64>(HASH_END)))
  .filter(([start, end]) => compareHashes(start, end) < 0)
  .map(([start, end]) => ({ start, end }));

test("an object is of a shard exactly when one of its ranges has the hash, however they overlap", () => {
  fc.assert(
    fc.property(fc.array(range), fc.uuid(), (ranges, uid) => {
      const hashed = fnv1a64(uid);
      const isIn = ranges.some(({ start, end }) => compareHashes(start, hashed) <= 0 && compareHashes(hashed, end) < 0);
      const matches = shardMatcher({ key: "object.metadata.uid", ranges });
      expect(matches({ metadata: { uid } })).toBe(isIn);
    }),
  );
});

test("a shard of namespaces has these and no others, and cluster-scoped objects are of the one without a name", () => {
  const matches = shardMatcher(namespaceShard(["ns-a", "ns-b", "ns-a"]));
  expect(["ns-a", "ns-b", "ns-c", ""].map((namespace) => matches({ metadata: { namespace } }))).toEqual([
    true,
    true,
    false,
    false,
  ]);
  expect(shardMatcher(namespaceShard([""]))({ metadata: { uid: "abc" } })).toBe(true);
});

test("a selector is written as API servers answer it", () => {
  const halves = {
    key: "object.metadata.uid",
    ranges: [
      { start: { high: 0, low: 0 }, end: { high: 0x80000000, low: 0 } },
      { start: { high: 0x80000000, low: 0 }, end: HASH_END },
    ],
  } as const;
  expect(formatShardSelector(halves)).toBe(
    "shardRange(object.metadata.uid, '0x0000000000000000', '0x8000000000000000') || shardRange(object.metadata.uid, '0x8000000000000000', '0x10000000000000000')",
  );
  expect(formatShardSelector(namespaceShard(["ns-a"]))).toBe(
    "shardRange(object.metadata.namespace, '0x4a8287ba48e20b30', '0x4a8287ba48e20b31')",
  );
});
