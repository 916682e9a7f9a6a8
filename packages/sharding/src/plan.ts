import { type Hash64, fnv1a64 } from "@kubewright/api";

import { type Assignment, type AssignmentEdits, bucketsOf, layoutOf } from "./assignment.js";
import { type Bucket, mix64 } from "./bucket.js";
import type { BucketLayout } from "./layout.js";

/** What a member knows when it looks at the assignment. */
export interface PlanInput {
  readonly me: string;
  readonly assignment: Assignment;
  /** Identities of those who live, this one included. */
  readonly live: readonly string[];
  /** Identities of those whose Leases are seized or released: they never write again. */
  readonly fenced: ReadonlySet<string>;
  /** Whether members have been the same for long enough to move buckets between those who live. */
  readonly isMembershipStable: boolean;
  /** Whether this member is about to end: it gives up everything, and takes nothing. */
  readonly isStopping: boolean;
  /** For how long this member has seen a bucket free, in milliseconds. */
  readonly freeForMs: (bucket: Bucket) => number;
  /** Buckets that this member could not start lately: others are to have them. */
  readonly recentlyFailed: ReadonlySet<Bucket>;
}

/** For so long a free bucket waits for whoever is to have it, and for so long again for each that is next. */
const WAIT_PER_CANDIDATE_MS = 5_000;

/**
 * What a member does about the assignment, decided from what it knows alone. Views of who lives may differ without harm: they
 * say who wants a bucket, and never who may have one.
 */
export function planAssignment(input: PlanInput): AssignmentEdits {
  const { me, assignment, live, fenced, isMembershipStable, isStopping, freeForMs, recentlyFailed } = input;
  const { entries } = assignment;
  const layout = layoutOf(assignment);
  const owned = bucketsOf(assignment, me);
  if (isStopping || !live.includes(me)) return { acquire: [], release: owned, fence: new Set() };
  const targets = targetsOf(assignment, live);
  const acquire = layout.buckets.filter((bucket) => {
    const { owner } = entries[bucket]!;
    if ((owner !== "" && !fenced.has(owner)) || recentlyFailed.has(bucket)) return false;
    const candidates = [
      targets[bucket]!,
      ...rankMembers(layout.nameOf(bucket), live).filter((member) => member !== targets[bucket]),
    ];
    return candidates.indexOf(me) <= (owner === "" ? Math.floor(freeForMs(bucket) / WAIT_PER_CANDIDATE_MS) : 0);
  });
  const release = isMembershipStable ? owned.filter((bucket) => targets[bucket] !== me) : [];
  const fence = new Set(entries.map(({ owner }) => owner).filter((owner) => fenced.has(owner)));
  const retry = new Set(
    layout.buckets.filter((bucket) => entries[bucket]!.avoids?.includes(me) === true && !recentlyFailed.has(bucket)),
  );
  return { acquire, release, fence, ...(retry.size === 0 ? {} : { retry }) };
}

/**
 * Who is to have each bucket, by bucket: present owners keep what they have up to their share, and the rest goes by rendezvous
 * hashing to who is below theirs. Shares differ by one at most, of all buckets and of the parts of each namespace: with the larger one
 * for all, a ninth member would get nothing.
 *
 * @param live - At least one.
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
  /** How many each member is to have, of all groups so far. */
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
    // Rather too many for one than one for nobody.
    const member = eligible.find((candidate) => remainingQuota.get(candidate)! > 0) ?? eligible[0]!;
    targets[bucket] = member;
    remainingQuota.set(member, remainingQuota.get(member)! - 1);
  }
}

/** Members in the order in which they would have the bucket, were there nothing else: rendezvous hashing. */
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
