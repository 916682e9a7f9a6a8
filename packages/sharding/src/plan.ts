import { type Hash64, fnv1a64 } from "@kubewright/api";

import type { Assignment, AssignmentEdits } from "./assignment.js";
import { type Bucket, allBuckets, bucketName, mix64 } from "./bucket.js";

/** What a member knows when it looks at the assignment. */
export interface PlanInput {
  readonly me: string;
  readonly assignment: Assignment;
  /** Identities of those who live, this one included. */
  readonly live: readonly string[];
  /** Identities of those whose Leases are seized or released: they never write again. */
  readonly buried: ReadonlySet<string>;
  /** Whether members have been the same for long enough to move buckets between those who live. */
  readonly isSettled: boolean;
  /** Whether this member is about to end: it gives up everything, and takes nothing. */
  readonly isStopping: boolean;
  /** For how long this member has seen a bucket free, in milliseconds. */
  readonly freeForMs: (bucket: Bucket) => number;
  /** Buckets that this member could not start lately: others are to have them. */
  readonly unwanted: ReadonlySet<Bucket>;
}

/** For so long a free bucket waits for whoever is to have it, and for so long again for each that is next. */
const WAITS_FOR_EACH_MS = 5_000;

/**
 * What a member does about the assignment, decided from what it knows alone. Views of who lives may differ without harm: they
 * say who wants a bucket, and never who may have one.
 */
export function planAssignment(input: PlanInput): AssignmentEdits {
  const { me, assignment, live, buried, isSettled, isStopping, freeForMs, unwanted } = input;
  const { entries } = assignment;
  const mine = allBuckets.filter((bucket) => entries[bucket]!.owner === me);
  if (isStopping || !live.includes(me)) return { take: [], release: mine, bury: new Set() };
  const targets = targetsOf(assignment, live);
  const take = allBuckets.filter((bucket) => {
    const { owner } = entries[bucket]!;
    if ((owner !== "" && !buried.has(owner)) || unwanted.has(bucket)) return false;
    const waiting = [targets[bucket]!, ...preferred(bucket, live).filter((member) => member !== targets[bucket])];
    return waiting.indexOf(me) <= (owner === "" ? Math.floor(freeForMs(bucket) / WAITS_FOR_EACH_MS) : 0);
  });
  const release = isSettled ? mine.filter((bucket) => targets[bucket] !== me) : [];
  const bury = new Set(entries.map(({ owner }) => owner).filter((owner) => buried.has(owner)));
  return { take, release, bury };
}

/**
 * Who is to have each bucket, by bucket: present owners keep what they have up to their share, and the rest goes by rendezvous
 * hashing to who is below theirs. Shares differ by one at most: with the larger one for all, a ninth member would get nothing.
 *
 * @param live - At least one.
 */
export function targetsOf({ entries }: Assignment, live: readonly string[]): readonly string[] {
  const owned = new Map<string, Bucket[]>(live.map((member) => [member, []]));
  for (const bucket of allBuckets) owned.get(entries[bucket]!.owner)?.push(bucket);
  const share = Math.floor(allBuckets.length / live.length);
  const larger = allBuckets.length % live.length;
  const byLoad = [...live].sort((a, b) => owned.get(b)!.length - owned.get(a)!.length || (a < b ? -1 : 1));
  const room = new Map(byLoad.map((member, index) => [member, share + (index < larger ? 1 : 0)]));
  const targets = allBuckets.map(() => "");
  for (const member of live) {
    const score = (bucket: Bucket): bigint => scoreOf(member, bucket);
    const kept = owned
      .get(member)!
      .sort((a, b) => descending(score(a), score(b)))
      .slice(0, room.get(member));
    for (const bucket of kept) targets[bucket] = member;
    room.set(member, room.get(member)! - kept.length);
  }
  for (const bucket of allBuckets) {
    if (targets[bucket] !== "") continue;
    const { avoids } = entries[bucket]!;
    const able = preferred(bucket, live).filter((candidate) => candidate !== avoids || live.length === 1);
    // Rather too many for one than one for nobody.
    const member = able.find((candidate) => room.get(candidate)! > 0) ?? able[0]!;
    targets[bucket] = member;
    room.set(member, room.get(member)! - 1);
  }
  return targets;
}

/** Members in the order in which they would have the bucket, were there nothing else: rendezvous hashing. */
function preferred(bucket: Bucket, members: readonly string[]): readonly string[] {
  const scores = new Map(members.map((member) => [member, scoreOf(member, bucket)]));
  return [...members].sort((a, b) => descending(scores.get(a)!, scores.get(b)!) || (a < b ? -1 : 1));
}

function scoreOf(member: string, bucket: Bucket): bigint {
  const hash: Hash64 = fnv1a64(`${bucketName(bucket)}/${member}`);
  return mix64(hash);
}

function descending(a: bigint, b: bigint): number {
  return a > b ? -1 : a < b ? 1 : 0;
}
