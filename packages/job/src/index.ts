export { JobController } from "./job-controller.js";
export { jobMetricDefinitions } from "./job-metrics.js";
export { explainJobReason } from "./job-reason.js";
export { planJob } from "./plan-job.js";

export type { BackoffRecord } from "./backoff.js";
export type { EndReason, EndState } from "./end-state.js";
export type { IndexFailureCounts } from "./index-failure-counts.js";
export type { IndexInterval, IndexIntervals } from "./index-intervals.js";
export type { JobControllerOptions } from "./job-controller.js";
export type { CompletionMode, JobMetricDefinition, JobMetrics, PodCreationReason, SyncLabels } from "./job-metrics.js";
export type { PodFailureAction } from "./pod-failure-policy.js";
export type { JobReason } from "./job-reason.js";
export type { JobInput, JobPlan } from "./plan-job.js";
export type { JobDecision } from "./job-decision.js";
export type { ObservedIndexes } from "./observed-indexes.js";
export type { ObservedPods } from "./observed-pods.js";
export type { PodPlan, SyncAction } from "./plan-pods.js";
export type { PodToCreate } from "./pod-template.js";
