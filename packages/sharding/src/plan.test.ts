import * as fc from "fast-check";
import { expect, test } from "vitest";

import {
  type Assignment,
  bucketsOf,
  formatAssignment,
  freeAssignment,
  createFreeAssignment,
  layoutOf,
  parseAssignment,
  withEdits,
} from "./assignment.js";
import { allBuckets } from "./bucket.js";
import { BucketLayout } from "./layout.js";
import { type PlanInput, planAssignment, targetsOf } from "./plan.js";

const members = (count: number): string[] => Array.from({ length: count }, (_, index) => `member-${index}`);

const input = (
  assignment: Assignment,
  me: string,
  live: readonly string[],
  more: Partial<PlanInput> = {},
): PlanInput => ({
  me,
  assignment,
  live,
  fenced: new Set(),
  isMembershipStable: true,
  isStopping: false,
  freeForMs: () => 0,
  delayed: new Set(),
  recentlyFailed: new Set(),
  ...more,
});

/** All members plan and write, interleaved, until none has edits. */
function settle(start: Assignment, live: readonly string[], more: Partial<PlanInput> = {}): Assignment {
  let assignment = start;
  for (let round = 0; round < 5; round++)
    for (const me of live) assignment = withEdits(assignment, me, planAssignment(input(assignment, me, live, more)));
  return assignment;
}

const sizes = (assignment: Assignment, live: readonly string[]): number[] =>
  live.map((member) => bucketsOf(assignment, member).length).sort((a, b) => a - b);

const moved = (before: Assignment, after: Assignment): number =>
  allBuckets.filter((bucket) => before.entries[bucket]!.owner !== after.entries[bucket]!.owner).length;

const anyMembers = fc.uniqueArray(fc.uuid(), { minLength: 1, maxLength: 12 });

/** Live members, one expired member and no owner each have some buckets. */
const anyAssignment = fc
  .tuple(anyMembers, fc.array(fc.nat(14), { minLength: allBuckets.length, maxLength: allBuckets.length }))
  .map(([live, owners]): { live: string[]; assignment: Assignment } => ({
    live,
    assignment: {
      ...freeAssignment,
      entries: owners.map((index, epoch) => ({ owner: [...live, "dead", ""][index % (live.length + 2)]!, epoch })),
    },
  }));

/** The same for an assignment with split namespaces. */
const anySplitAssignment = fc
  .tuple(
    anyMembers,
    fc.dictionary(fc.constantFrom("batch", "web", "zoo"), fc.integer({ min: 2, max: 16 })),
    fc.array(fc.nat(14), { minLength: 113, maxLength: 113 }),
  )
  .map(([live, splits, owners]): { live: string[]; assignment: Assignment } => {
    const free = createFreeAssignment(new BucketLayout(splits));
    const ownerOf = (index: number): string => [...live, "dead", ""][index % (live.length + 2)]!;
    const entries = free.entries.map((_, epoch) => ({ owner: ownerOf(owners[epoch]!), epoch }));
    return { live, assignment: { ...free, entries } };
  });

test("of the parts of each namespace that is split, and of all buckets, shares differ by one at most", () => {
  fc.assert(
    fc.property(anySplitAssignment, ({ live, assignment }) => {
      const targets = targetsOf(assignment, live);
      const spread = (buckets: readonly number[]): number => {
        const counts = live.map((member) => buckets.filter((bucket) => targets[bucket] === member).length);
        return Math.max(...counts) - Math.min(...counts);
      };
      const { buckets, groups } = layoutOf(assignment);
      for (const group of [buckets, ...groups]) expect(spread(group)).toBeLessThanOrEqual(1);
      expect(targetsOf(assignment, live.toReversed())).toEqual(targets);
      const fenced = new Set(["dead"]);
      const after = settle(assignment, live, { fenced });
      expect(after.entries.every(({ owner }) => live.includes(owner))).toBe(true);
      expect(settle(after, live, { fenced })).toEqual(after);
    }),
    { numRuns: 50 },
  );
});

test("quotas differ by at most one for any previous owners, and all members compute the same targets", () => {
  fc.assert(
    fc.property(anyAssignment, ({ live, assignment }) => {
      const targets = targetsOf(assignment, live);
      const counts = live.map((member) => targets.filter((target) => target === member).length);
      expect(Math.max(...counts) - Math.min(...counts)).toBeLessThanOrEqual(1);
      expect(targetsOf(assignment, live.toReversed())).toEqual(targets);
    }),
  );
});

test("no member edits the entry of another live member, and each new owner increments the epoch", () => {
  fc.assert(
    fc.property(anyAssignment, fc.boolean(), fc.boolean(), ({ live, assignment }, isMembershipStable, isStopping) => {
      const me = live[0]!;
      const fenced = new Set(["dead"]);
      const after = withEdits(
        assignment,
        me,
        planAssignment(input(assignment, me, live, { fenced, isMembershipStable, isStopping })),
      );
      for (const bucket of allBuckets) {
        const [old, now] = [assignment.entries[bucket]!, after.entries[bucket]!];
        expect(now.epoch - old.epoch).toBe(now.owner !== "" && now.owner !== old.owner ? 1 : 0);
        expect([me, "", "dead"].includes(old.owner) || now === old).toBe(true);
        expect(["", me, old.owner]).toContain(now.owner);
      }
    }),
  );
});

test("after a few rounds every bucket has a live owner, and no member wants to move one", () => {
  fc.assert(
    fc.property(anyAssignment, ({ live, assignment }) => {
      const fenced = new Set(["dead"]);
      const after = settle(assignment, live, { fenced });
      const [least, max] = [sizes(after, live)[0]!, sizes(after, live).at(-1)!];
      expect(max - least).toBeLessThanOrEqual(1);
      expect(sizes(after, live).reduce((sum, size) => sum + size)).toBe(allBuckets.length);
      expect(settle(after, live, { fenced })).toEqual(after);
    }),
    { numRuns: 50 },
  );
});

test.each([
  [2, 33],
  [4, 17],
  [8, 9],
])("when the last of %i joins or leaves, no more than its share of %i buckets moves", (count, share) => {
  const all = members(count);
  const before = settle(freeAssignment, all.slice(0, -1));
  const joined = settle(before, all);
  expect(moved(before, joined)).toBeLessThanOrEqual(share);
  const left = settle(joined, all.slice(0, -1), { fenced: new Set([all.at(-1)!]) });
  expect(moved(joined, left)).toBeLessThanOrEqual(share);
});

test("with nine members each has seven or eight buckets", () => {
  expect(sizes(settle(freeAssignment, members(9)), members(9))).toEqual([7, 7, 7, 7, 7, 7, 7, 8, 8]);
});

test("buckets move between live members only after membership is stable; free buckets are acquired immediately", () => {
  const [first, second] = members(2) as [string, string];
  const all = settle(freeAssignment, [first]);
  expect(planAssignment(input(all, first, [first, second], { isMembershipStable: false })).release).toEqual([]);
  expect(planAssignment(input(all, first, [first, second])).release).toHaveLength(32);
  const free = planAssignment(input(freeAssignment, first, [first, second], { isMembershipStable: false }));
  expect(free.acquire.length).toBeGreaterThanOrEqual(32);
});

test("a bucket that its target does not acquire goes to the next candidate after 5 s, and so on", () => {
  const live = members(3);
  const targets = targetsOf(freeAssignment, live);
  const takers = (freeMs: number, bucket: number): string[] =>
    live.filter((me) =>
      planAssignment(input(freeAssignment, me, live, { freeForMs: () => freeMs })).acquire.includes(bucket),
    );
  for (const bucket of allBuckets) {
    expect(takers(4_999, bucket)).toEqual([targets[bucket]]);
    expect(takers(5_000, bucket)).toHaveLength(2);
    expect(takers(10_000, bucket)).toHaveLength(3);
  }
});

test("a member that could not start a bucket leaves it to others", () => {
  const [me] = members(1) as [string];
  const { acquire } = planAssignment(input(freeAssignment, me, [me], { delayed: new Set([3]) }));
  expect(acquire).toEqual(allBuckets.filter((bucket) => bucket !== 3));
});

test("a bucket that all live members avoid is acquired after 30 s, whatever their back-offs", () => {
  const live = members(2) as [string, string];
  const entries = freeAssignment.entries.map((entry) => ({ ...entry, avoids: [...live, "dead"] }));
  const acquirersAfter = (freeForMs: number): number =>
    live.filter((me) => {
      const more = { delayed: new Set([3]), freeForMs: () => freeForMs };
      return planAssignment(input({ ...freeAssignment, entries }, me, live, more)).acquire.includes(3);
    }).length;
  expect([29_999, 30_000, 35_000].map(acquirersAfter)).toEqual([0, 1, 2]);
});

/** Two of three members release a bucket that they could not start; then all members plan, interleaved. */
function afterTwoFailed(rounds: number, recentlyFailedAfter: ReadonlySet<number> = new Set([3])): Assignment[] {
  const live = members(3);
  const bucket = 3;
  let assignment = settle(freeAssignment, live);
  const first = assignment.entries[bucket]!.owner;
  const fail = (me: string): void => {
    const edits = { acquire: [], release: [bucket], failed: new Set([bucket]), fence: new Set<string>() };
    assignment = withEdits(assignment, me, edits);
  };
  fail(first);
  const second = live.find((me) => targetsOf(assignment, live)[bucket] === me)!;
  assignment = withEdits(assignment, second, { acquire: [bucket], release: [], fence: new Set() });
  fail(second);
  const history: Assignment[] = [];
  for (let round = 0; round < rounds; round++)
    for (const me of live) {
      const recentlyFailed = me === first || me === second ? recentlyFailedAfter : new Set<number>();
      const more = { delayed: recentlyFailed, recentlyFailed, freeForMs: () => 60_000 };
      const plan = planAssignment(input(assignment, me, live, more));
      assignment = withEdits(assignment, me, plan);
      history.push(assignment);
    }
  return history;
}

test("a bucket that two of three could not start is the third's, who keeps it", () => {
  const owners = afterTwoFailed(6).map(({ entries }) => entries[3]!.owner);
  const settled = owners.slice(6);
  expect(new Set(settled)).toEqual(new Set([settled[0]]));
  expect(settled[0]).not.toBe("");
});

test("a member that retries a bucket removes itself from `avoids`, and quotas are equal again", () => {
  const last = afterTwoFailed(6, new Set()).at(-1)!;
  expect(last.entries.some(({ avoids }) => avoids !== undefined)).toBe(false);
  expect(sizes(last, members(3))).toEqual([21, 22, 22]);
});

test("fenced members are removed from `avoids`", () => {
  const [me, other, dead] = members(3) as [string, string, string];
  const entries = freeAssignment.entries.map((entry, bucket) => ({
    ...entry,
    owner: bucket === 0 ? dead : other,
    ...(bucket === 1 ? { avoids: [dead, me] } : {}),
  }));
  const fenced = new Set([dead]);
  const recentlyFailed = new Set([1]);
  const plan = planAssignment(input({ ...freeAssignment, entries }, me, [me, other], { fenced, recentlyFailed }));
  expect(withEdits({ ...freeAssignment, entries }, me, plan).entries[1]!.avoids).toEqual([me]);
});

test("a member that stops releases everything", () => {
  const live = members(2);
  const assignment = settle(freeAssignment, live);
  const plan = planAssignment(input(assignment, live[0]!, live, { isStopping: true }));
  expect(plan).toEqual({ acquire: [], release: bucketsOf(assignment, live[0]!), fence: new Set() });
});

test("an assignment is read as it was written", () => {
  fc.assert(
    fc.property(anyAssignment, ({ assignment }) => {
      expect(parseAssignment(formatAssignment(assignment))).toEqual(assignment);
    }),
  );
});

test("without splits it is what versions that know none read and write, and with splits it says which", () => {
  const { entries } = freeAssignment;
  const text = JSON.stringify({ hash: "fnv1a64-murmur3-64", buckets: 64, entries });
  expect(formatAssignment(freeAssignment)).toBe(text);
  expect(parseAssignment(text)).toEqual(freeAssignment);
  const split = createFreeAssignment(new BucketLayout({ web: 2, batch: 3 }), 7);
  expect(formatAssignment(split)).toContain(
    '"buckets":64,"splits":{"batch":3,"web":2},"entries":[{"owner":"","epoch":7},',
  );
  expect(parseAssignment(formatAssignment(split))).toEqual(split);
  expect(split.entries).toHaveLength(70);
});

test.each([
  [
    '{"hash":"fnv1a64-murmur3-64","buckets":64,"splits":{"batch":4},"entries":[]}',
    "the assignment has not 69 entries: delete the ConfigMap, and a member recreates it",
  ],
  [
    '{"hash":"fnv1a64-murmur3-64","buckets":64,"splits":{"batch":99},"entries":[]}',
    "the assignment has splits that cannot be (namespace batch has 99 parts: it must be 2 to 16): delete the ConfigMap, and a member recreates it",
  ],
  [
    '{"hash":"fnv1a64-murmur3-64","buckets":64,"splits":"batch","entries":[]}',
    "the assignment has splits that cannot be",
  ],
  ['{"hash":"fnv1a64-murmur3-64","buckets":64,"splits":null,"entries":[]}', "the assignment has splits that cannot be"],
  ["", "the assignment is not JSON: delete the ConfigMap, and a member recreates it"],
  [
    '{"hash":"sha1","buckets":8,"entries":[]}',
    "the assignment has 8 buckets by sha1, this version 64 by fnv1a64-murmur3-64: stop the other version first",
  ],
  [
    '{"hash":"fnv1a64-murmur3-64","buckets":64,"entries":[{}]}',
    "the assignment has not 65 entries: delete the ConfigMap, and a member recreates it",
  ],
])("%j is refused in words", (text, message) => {
  expect(() => parseAssignment(text)).toThrow(message);
});
