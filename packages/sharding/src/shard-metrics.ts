import type { FenceReason } from "./bucket-fence.js";

/** Why a bucket has another owner. */
export type HandoffReason = "free" | "dead" | "balance" | "stop" | "failure" | "lost";

/** Takes the measurements of one member. Buckets go by their names, of which there are 65. */
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
