import { countIndexes, parseIndexIntervals } from "./index-intervals.js";
import { type JobObject, backoffLimitPerIndexOf, indexCount, isIndexed } from "./job-spec.js";
import type { SyncAction } from "./plan-pods.js";
import type { PodFailureAction } from "./pod-failure-policy.js";
import type { StatusDraft } from "./status-draft.js";
import { draftOf } from "./status-draft.js";

export type CompletionMode = "Indexed" | "NonIndexed";
export type PodCreationReason = "new" | "recreate_terminating_or_failed" | "recreate_failed";

/**
 * Takes the measurements of a Job controller. Counts are never negative, durations in seconds. A count of 0 opens a
 * series, so that its first increase can be told.
 */
export interface JobMetrics {
  /** `job_sync_duration_seconds` and `job_syncs_total`: a sync that had something to decide. */
  synced(labels: SyncLabels, seconds: number): void;
  /** `jobs_finished_total`, once the end is written. */
  jobFinished(labels: {
    readonly completion_mode: CompletionMode;
    readonly result: "succeeded" | "failed";
    readonly reason: string;
  }): void;
  /** `job_pods_finished_total`, once the count is written. Of an indexed Job, successes are indexes. */
  podsFinished(
    labels: { readonly completion_mode: CompletionMode; readonly result: "succeeded" | "failed" },
    count: number,
  ): void;
  /** `job_finished_indexes_total`, once they are written. */
  indexesFinished(
    labels: { readonly status: "succeeded" | "failed"; readonly backoffLimit: "perIndex" | "global" },
    count: number,
  ): void;
  /** `jobs_by_external_controller_total`: such a Job was seen, also when the controller starts. */
  externalJobAdded(labels: { readonly controller_name: string }): void;
  /** `pod_failures_handled_by_failure_policy_total`. */
  podFailuresHandled(labels: { readonly action: PodFailureAction }, count: number): void;
  /** `terminated_pods_tracking_finalizer_total`: a pod became, or ceased to be, ended and tracked. */
  terminatedPodTracked(labels: { readonly event: "add" | "delete" }): void;
  /**
   * `job_pods_creation_total`: one call each. Upstream counts a failed one as succeeded too; not here. One refused
   * because its namespace is being deleted is neither.
   */
  podCreated(labels: { readonly reason: PodCreationReason; readonly status: "succeeded" | "failed" }): void;
  /** `stale_sync_skips_total`. */
  staleSyncSkipped(labels: { readonly group: string; readonly resource: string }): void;
}

export interface SyncLabels {
  readonly completion_mode: CompletionMode;
  readonly result: "success" | "error";
  readonly action: SyncAction;
}

/** Measures nothing. The default. */
export const noJobMetrics: JobMetrics = {
  synced: () => undefined,
  jobFinished: () => undefined,
  podsFinished: () => undefined,
  indexesFinished: () => undefined,
  externalJobAdded: () => undefined,
  podFailuresHandled: () => undefined,
  terminatedPodTracked: () => undefined,
  podCreated: () => undefined,
  staleSyncSkipped: () => undefined,
};

/** How a metric is registered. */
export interface JobMetricDefinition {
  readonly type: "counter" | "histogram";
  readonly name: string;
  readonly help: string;
  readonly labels: readonly string[];
  readonly buckets?: readonly number[];
}

const SYNC_LABELS = ["completion_mode", "result", "action"];

/**
 * Names, stability, labels and buckets of upstream's metrics (pkg/controller/job/metrics), and the help texts of those
 * that have a short one. The four that list the values of labels do so in other words, `FailIndex` included.
 */
export const jobMetricDefinitions = {
  syncDuration: {
    type: "histogram",
    name: "job_controller_job_sync_duration_seconds",
    help: "[STABLE] The time it took to sync a job",
    labels: SYNC_LABELS,
    buckets: Array.from({ length: 15 }, (_, power) => 0.004 * 2 ** power),
  },
  syncs: {
    type: "counter",
    name: "job_controller_job_syncs_total",
    help: "[STABLE] The number of job syncs",
    labels: SYNC_LABELS,
  },
  jobsFinished: {
    type: "counter",
    name: "job_controller_jobs_finished_total",
    help: "[STABLE] The number of finished jobs",
    labels: ["completion_mode", "result", "reason"],
  },
  podsFinished: {
    type: "counter",
    name: "job_controller_job_pods_finished_total",
    help: "[STABLE] The number of finished Pods that are fully tracked",
    labels: ["completion_mode", "result"],
  },
  indexesFinished: {
    type: "counter",
    name: "job_controller_job_finished_indexes_total",
    help: "[ALPHA] The number of finished indexes. Label status: succeeded or failed; backoffLimit: perIndex or global",
    labels: ["status", "backoffLimit"],
  },
  externalJobs: {
    type: "counter",
    name: "job_controller_jobs_by_external_controller_total",
    help: "[ALPHA] The number of Jobs managed by an external controller",
    labels: ["controller_name"],
  },
  podFailuresHandled: {
    type: "counter",
    name: "job_controller_pod_failures_handled_by_failure_policy_total",
    help: "[BETA] The number of failed Pods a rule of a pod failure policy decided on. Label action: FailJob, Ignore, Count or FailIndex",
    labels: ["action"],
  },
  terminatedPodsTracked: {
    type: "counter",
    name: "job_controller_terminated_pods_tracking_finalizer_total",
    help: "[BETA] The number of terminated Pods that got (label event: add) or lost (delete) the Job tracking finalizer",
    labels: ["event"],
  },
  podsCreated: {
    type: "counter",
    name: "job_controller_job_pods_creation_total",
    help: "[ALPHA] The number of Pods created. Label reason: new, recreate_terminating_or_failed or recreate_failed; status: succeeded or failed",
    labels: ["reason", "status"],
  },
  staleSyncsSkipped: {
    type: "counter",
    name: "job_controller_stale_sync_skips_total",
    help: "[ALPHA] Total number of Job syncs skipped due to a stale watch cache.",
    labels: ["group", "resource"],
  },
} as const satisfies Record<string, JobMetricDefinition>;

export function completionModeOf(job: JobObject): CompletionMode {
  return isIndexed(job) ? "Indexed" : "NonIndexed";
}

/**
 * Counts what a written status has more than the one before. Both texts of indexes are read with the completions of
 * now, so that lowering them takes nothing away. Upstream forgets what it writes when some finalizer has stayed.
 *
 * Upstream: job_controller.go recordJobPodFinished.
 */
export function countFinished(metrics: JobMetrics, job: JobObject, written: StatusDraft): void {
  const before = draftOf(job.status);
  const completion_mode = completionModeOf(job);
  const grown = (field: "succeeded" | "failed"): number => Math.max(0, written[field] - before[field]);
  const added = (field: "completedIndexes" | "failedIndexes"): number =>
    written[field] === before[field] ? 0 : Math.max(0, indexesIn(written[field]) - indexesIn(before[field]));
  const indexesIn = (text: string | undefined): number => countIndexes(parseIndexIntervals(text, indexCount(job)));
  const succeeded = completion_mode === "Indexed" ? added("completedIndexes") : grown("succeeded");
  metrics.podsFinished({ completion_mode, result: "succeeded" }, succeeded);
  metrics.podsFinished({ completion_mode, result: "failed" }, grown("failed"));
  if (completion_mode === "NonIndexed") return;
  const backoffLimit = backoffLimitPerIndexOf(job) === undefined ? "global" : "perIndex";
  metrics.indexesFinished({ status: "succeeded", backoffLimit }, succeeded);
  const failedIndexes = backoffLimit === "perIndex" ? added("failedIndexes") : 0;
  if (failedIndexes > 0) metrics.indexesFinished({ status: "failed", backoffLimit }, failedIndexes);
}
