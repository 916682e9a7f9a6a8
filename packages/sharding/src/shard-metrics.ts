import type { FenceReason } from "./bucket-fence.js";

/** Why a bucket has another owner. */
export type HandoffReason = "free" | "dead" | "balance" | "stop" | "failure" | "lost";

/** Takes the measurements of one member. Buckets go by their names: 65, and one for each part of a namespace that is split. */
export interface MemberMetrics {
  /** `kubewright_shard_members`: those who live, as this member sees it. */
  setMembers(live: number): void;
  /** `kubewright_shard_bucket_owner`: over all members the sum is 1, or 0 while a bucket moves. */
  setOwner(bucket: string, isOwner: boolean): void;
  /** `kubewright_shard_handoffs_total`: a bucket came to this member, or went. */
  countHandoff(reason: HandoffReason): void;
  /** `kubewright_shard_takeover_duration_seconds`: from having a bucket to writing for it. */
  observeTakeover(seconds: number): void;
  /** `kubewright_shard_fenced_writes_total`: 0 in health. */
  countFencedWrite(bucket: string, reason: FenceReason): void;
  /** `kubewright_shard_assignment_conflicts_total`: another member wrote first. */
  countConflict(): void;
}

/** How a metric is registered. */
export interface MemberMetricDefinition {
  readonly type: "gauge" | "counter" | "histogram";
  readonly name: string;
  readonly help: string;
  readonly labels: readonly string[];
  readonly buckets?: readonly number[];
}

/** Names, help texts and labels of what {@link MemberMetrics} takes, for any metrics library. */
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

/** What makes metrics: `MetricFamilies` of `@kubewright/controller/metrics`, or whatever else does these. */
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

/** Makes the metrics of a member. @throws What making one throws, such as of a name that is there already. */
export function memberMetrics(families: MemberMetricFamilies): MemberMetrics {
  const define = memberMetricDefinitions;
  const members = families.gauge(define.members);
  const owner = families.gauge(define.owner);
  const handoffs = families.counter(define.handoffs);
  const takeover = families.histogram(define.takeover);
  const fencedWrites = families.counter(define.fencedWrites);
  const conflicts = families.counter(define.conflicts);
  return {
    setMembers: (live) => members.set(live),
    setOwner: (bucket, isOwner) => owner.set({ bucket }, isOwner ? 1 : 0),
    countHandoff: (reason) => handoffs.inc({ reason }),
    observeTakeover: (seconds) => takeover.observe(seconds),
    countFencedWrite: (bucket, reason) => fencedWrites.inc({ bucket, reason }),
    countConflict: () => conflicts.inc(),
  };
}
