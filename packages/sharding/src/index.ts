export { formatAssignment, parseAssignment, withEdits } from "./assignment.js";
export { BUCKETS, CLUSTER_BUCKET, HASH_NAME, allBuckets, bucketName, bucketOf } from "./bucket.js";
export { FencedError } from "./bucket-fence.js";
export { MemberError } from "./member-error.js";
export { planAssignment, targetsOf } from "./plan.js";
export { memberMetricDefinitions } from "./shard-metrics.js";
export { ShardMember } from "./shard-member.js";

export type { Assignment, AssignmentEdits, Entry } from "./assignment.js";
export type { Bucket } from "./bucket.js";
export type { FenceReason } from "./bucket-fence.js";
export type { BucketState, BucketWork, RunBucket } from "./owned-bucket.js";
export type { PlanInput } from "./plan.js";
export type { BucketStatus, ShardMemberOptions, ShardStatus } from "./shard-member.js";
export type { HandoffReason, MemberMetricDefinition, MemberMetrics } from "./shard-metrics.js";
export type { ShardTiming } from "./timing.js";
