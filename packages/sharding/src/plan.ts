import { type Hash64, fnv1a64 } from "@kubewright/api";

import { type Assignment, type AssignmentEdits, bucketsOf, layoutOf } from "./assignment.js";
import { type Bucket, mix64 } from "./bucket.js";
import type { BucketLayout } from "./layout.js";

/** What a member knows when it plans its edits. */
export interface PlanInput {
  readonly me: string;
  readonly assignment: Assignment;
  /** Identities of the live members, this one included. */
  readonly live: readonly string[];
  /** Identities of members whose Leases were taken over or released: they can no longer write. */
  readonly fenced: ReadonlySet<string>;
  /** Whether the set of members has been unchanged for long enough to move buckets between live members. */
  readonly isMembershipStable: boolean;
  /** Whether this member is shutting down: it releases all buckets and acquires none. */
  readonly isStopping: boolean;
  /** How long this member has seen a bucket without owner, in milliseconds. */
  readonly freeForMs: (bucket: Bucket) => number;
  /** Buckets that this member does not acquire yet after a failure, unless all live members avoid them. */
  readonly delayed: ReadonlySet<Bucket>;
  /** Buckets that this member failed to run recently: no other member has to leave them to it. */
  readonly recentlyFailed: ReadonlySet<Bucket>;
}

/**
 * How long a bucket waits at most without an owner when all live members avoid it, in addition to
 * {@link WAIT_PER_CANDIDATE_MS}.
 */
const MAX_WAIT_WHEN_AVOIDED_MS = 30_000;
/** How long a free bucket waits for its target, and again for each further candidate. */
const WAIT_PER_CANDIDATE_MS = 5_000;

/**
 * Plans a member's edits of the assignment from its own view alone. Members may have different views of the live
 * members without harm. A view decides only which member wants a bucket, never which member may own it.
 */
export function planAssignment(input: PlanInput): AssignmentEdits {
  const { me, assignment, live, fenced, isMembershipStable, isStopping, freeForMs, delayed, recentlyFailed } = input;
  const { entries } = assignment;
  const layout = layoutOf(assignment);
  const owned = bucketsOf(assignment, me);
  if (isStopping || !live.includes(me)) return { acquire: [], release: owned, fence: new Set() };
  const targets = targetsOf(assignment, live);
  const acquire = layout.buckets.filter((bucket) => {
    const { owner, avoids = [] } = entries[bucket]!;
    if (owner !== "" && !fenced.has(owner)) return false;
    const isAvoidedByAll = live.every((member) => avoids.includes(member));
    const waitMs = delayed.has(bucket) ? (isAvoidedByAll ? MAX_WAIT_WHEN_AVOIDED_MS : Infinity) : 0;
    const freeMs = (owner === "" ? freeForMs(bucket) : 0) - waitMs;
    const candidates = [
      targets[bucket]!,
      ...rankMembers(layout.nameOf(bucket), live).filter((member) => member !== targets[bucket]),
    ];
    return candidates.indexOf(me) <= Math.floor(freeMs / WAIT_PER_CANDIDATE_MS);
  });
  const release = isMembershipStable ? owned.filter((bucket) => targets[bucket] !== me) : [];
  const fence = new Set(entries.map(({ owner }) => owner).filter((owner) => fenced.has(owner)));
  const retry = new Set(
    layout.buckets.filter((bucket) => entries[bucket]!.avoids?.includes(me) === true && !recentlyFailed.has(bucket)),
  );
  return { acquire, release, fence, ...(retry.size === 0 ? {} : { retry }) };
}

/**
 * The target owner of each bucket.
 *
 * Live owners keep their buckets up to their quota. The others go by rendezvous hashing to members below their quota.
 * Quotas differ by at most one, over all buckets and over the parts of each namespace. With the larger quota for every
 * member, a ninth member would get nothing.
 *
 * @param live - At least one member.
 */
export function targetsOf(assignment: Assignment, live: readonly string[]): readonly string[] {
  const layout = layoutOf(assignment);
  const targets = layout.buckets.map(() => "");
  const quotas = new Map(live.map((member) => [member, 0]));
  for (const group of layout.groups) assignGroup(group, { layout, entries: assignment.entries, live, quotas, targets });
  return targets;
}

interface GroupAssignment extends Pick<Assignment, "entries"> {
  readonly layout: BucketLayout;
  readonly live: readonly string[];
  /** Quota of each member over all groups so far. */
  readonly quotas: Map<string, number>;
  readonly targets: string[];
}

function assignGroup(group: readonly Bucket[], { layout, entries, live, quotas, targets }: GroupAssignment): void {
  const owned = new Map<string, Bucket[]>(live.map((member) => [member, []]));
  for (const bucket of group) owned.get(entries[bucket]!.owner)?.push(bucket);
  const quota = Math.floor(group.length / live.length);
  const largerQuotas = group.length % live.length;
  const byLoad = [...live].sort(
    (a, b) => quotas.get(a)! - quotas.get(b)! || owned.get(b)!.length - owned.get(a)!.length || (a < b ? -1 : 1),
  );
  const remainingQuota = new Map(byLoad.map((member, index) => [member, quota + (index < largerQuotas ? 1 : 0)]));
  for (const [member, count] of remainingQuota) quotas.set(member, quotas.get(member)! + count);
  for (const member of live) {
    const score = (bucket: Bucket): bigint => scoreOf(member, layout.nameOf(bucket));
    const retained = owned
      .get(member)!
      .sort((a, b) => descending(score(a), score(b)))
      .slice(0, remainingQuota.get(member));
    for (const bucket of retained) targets[bucket] = member;
    remainingQuota.set(member, remainingQuota.get(member)! - retained.length);
  }
  for (const bucket of group) {
    if (targets[bucket] !== "") continue;
    const { avoids = [] } = entries[bucket]!;
    const all = rankMembers(layout.nameOf(bucket), live);
    const willing = all.filter((candidate) => !avoids.includes(candidate));
    const eligible = willing.length === 0 ? all : willing;
    // A member above its quota is better than a bucket without owner.
    const member = eligible.find((candidate) => remainingQuota.get(candidate)! > 0) ?? eligible[0]!;
    targets[bucket] = member;
    remainingQuota.set(member, remainingQuota.get(member)! - 1);
  }
}

/** Members in descending order of their rendezvous hash score for the bucket. */
function rankMembers(bucketName: string, members: readonly string[]): readonly string[] {
  const scores = new Map(members.map((member) => [member, scoreOf(member, bucketName)]));
  return [...members].sort((a, b) => descending(scores.get(a)!, scores.get(b)!) || (a < b ? -1 : 1));
}

function scoreOf(member: string, bucketName: string): bigint {
  const hash: Hash64 = fnv1a64(`${bucketName}/${member}`);
  return mix64(hash);
}

function descending(a: bigint, b: bigint): number {
  return a > b ? -1 : a < b ? 1 : 0;
}
