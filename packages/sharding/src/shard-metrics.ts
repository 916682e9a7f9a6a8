import type { FenceReason } from "./bucket-fence.js";

/** Why the owner of a bucket changed. */
export type HandoffReason = "free" | "dead" | "balance" | "stop" | "failure" | "lease" | "lost";

/** Records the metrics of one member. Buckets are labelled by name: 65, and one for each part of a split namespace. */
export interface MemberMetrics {
  /** `kubewright_shard_members`: number of live members, as this member sees it. */
  setMembers(live: number): void;
  /** `kubewright_shard_bucket_owner`: the sum over all members is 1, or 0 while a bucket moves. */
  setOwner(bucket: string, isOwner: boolean): void;
  /** `kubewright_shard_buckets_without_owner`: 0, except for seconds when members join or leave. */
  setBucketsWithoutOwner(count: number): void;
  /** `kubewright_shard_handoffs_total`: this member acquired, released or lost a bucket. */
  countHandoff(reason: HandoffReason): void;
  /** `kubewright_shard_takeover_duration_seconds`: from acquiring a bucket to being able to write for it. */
  observeTakeover(seconds: number): void;
  /** `kubewright_shard_fenced_writes_total`: stays 0 without faults. */
  countFencedWrite(bucket: string, reason: FenceReason): void;
  /** `kubewright_shard_assignment_conflicts_total`: another member wrote the assignment first. */
  countConflict(): void;
}

/** Definition that a metric is registered with. */
export interface MemberMetricDefinition {
  readonly type: "gauge" | "counter" | "histogram";
  readonly name: string;
  readonly help: string;
  readonly labels: readonly string[];
  readonly buckets?: readonly number[];
}

/** Names, help texts and labels of the metrics of {@link MemberMetrics}, for any metrics library. */
export const memberMetricDefinitions = {
  members: {
    type: "gauge",
    name: "kubewright_shard_members",
    help: "Number of live members, as this one sees it.",
    labels: [],
  },
  owner: {
    type: "gauge",
    name: "kubewright_shard_bucket_owner",
    help: "Whether this member has a bucket. Over all members the sum is 1, or 0 while a bucket moves.",
    labels: ["bucket"],
  },
  withoutOwner: {
    type: "gauge",
    name: "kubewright_shard_buckets_without_owner",
    help: "Number of buckets without an owner, as this member sees it.",
    labels: [],
  },
  handoffs: {
    type: "counter",
    name: "kubewright_shard_handoffs_total",
    help: "Number of buckets that came to this member or went, by reason.",
    labels: ["reason"],
  },
  takeover: {
    type: "histogram",
    name: "kubewright_shard_takeover_duration_seconds",
    help: "Time from having a bucket to writing for it.",
    labels: [],
    buckets: [0.05, 0.1, 0.25, 0.5, 1, 2, 5, 10, 30, 60],
  },
  fencedWrites: {
    type: "counter",
    name: "kubewright_shard_fenced_writes_total",
    help: "Number of writes that were not sent because this member may not write for the bucket. 0 in health.",
    labels: ["bucket", "reason"],
  },
  conflicts: {
    type: "counter",
    name: "kubewright_shard_assignment_conflicts_total",
    help: "Number of times another member changed the assignment first.",
    labels: [],
  },
} as const satisfies Record<string, MemberMetricDefinition>;

/** Creates metrics: `MetricFamilies` of `@kubewright/controller/metrics`, or any object with these methods. */
export interface MemberMetricFamilies {
  gauge(definition: MemberMetricDefinition): {
    set(value: number): void;
    set(labels: Readonly<Record<string, string>>, value: number): void;
  };
  counter(definition: MemberMetricDefinition): {
    inc(): void;
    inc(labels: Readonly<Record<string, string>>): void;
  };
  histogram(definition: MemberMetricDefinition & { readonly buckets: readonly number[] }): {
    observe(value: number): void;
  };
}

/**
 * Creates the metrics of a member.
 *
 * @throws What `families` throws, for example for a name that is registered already.
 */
export function memberMetrics(families: MemberMetricFamilies): MemberMetrics {
  const define = memberMetricDefinitions;
  const members = families.gauge(define.members);
  const owner = families.gauge(define.owner);
  const withoutOwner = families.gauge(define.withoutOwner);
  const handoffs = families.counter(define.handoffs);
  const takeover = families.histogram(define.takeover);
  const fencedWrites = families.counter(define.fencedWrites);
  const conflicts = families.counter(define.conflicts);
  return {
    setMembers: (live) => members.set(live),
    setOwner: (bucket, isOwner) => owner.set({ bucket }, isOwner ? 1 : 0),
    setBucketsWithoutOwner: (count) => withoutOwner.set(count),
    countHandoff: (reason) => handoffs.inc({ reason }),
    observeTakeover: (seconds) => takeover.observe(seconds),
    countFencedWrite: (bucket, reason) => fencedWrites.inc({ bucket, reason }),
    countConflict: () => conflicts.inc(),
  };
}
