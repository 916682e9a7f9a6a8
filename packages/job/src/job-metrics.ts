import { countIndexes, parseIndexIntervals } from "./index-intervals.js";
import { type JobObject, backoffLimitPerIndexOf, indexCount, isIndexed } from "./job-spec.js";
import type { SyncAction } from "./plan-pods.js";
import type { PodFailureAction } from "./pod-failure-policy.js";
import type { StatusDraft } from "./status-draft.js";
import { draftOf } from "./status-draft.js";

export type CompletionMode = "Indexed" | "NonIndexed";
export type PodCreationReason = "new" | "recreate_terminating_or_failed" | "recreate_failed";

/**
 * Records the metrics of a Job controller. Counts are never negative; durations are in seconds. A count of 0 creates a
 * series, so that its first increase is visible.
 */
export interface JobMetrics {
  /** Records `job_sync_duration_seconds` and `job_syncs_total` for a sync that had something to decide. */
  synced(labels: SyncLabels, seconds: number): void;
  /** Records `jobs_finished_total` after the end is written. */
  jobFinished(labels: {
    readonly completion_mode: CompletionMode;
    readonly result: "succeeded" | "failed";
    readonly reason: string;
  }): void;
  /** Records `job_pods_finished_total` after the count is written. For an indexed Job, successes are indexes. */
  podsFinished(
    labels: { readonly completion_mode: CompletionMode; readonly result: "succeeded" | "failed" },
    count: number,
  ): void;
  /** Records `job_finished_indexes_total` after the indexes are written. */
  indexesFinished(
    labels: { readonly status: "succeeded" | "failed"; readonly backoffLimit: "perIndex" | "global" },
    count: number,
  ): void;
  /** Records `jobs_by_external_controller_total`: such a Job was observed, also at controller start. */
  externalJobAdded(labels: { readonly controller_name: string }): void;
  /** Records `pod_failures_handled_by_failure_policy_total`. */
  podFailuresHandled(labels: { readonly action: PodFailureAction }, count: number): void;
  /**
   * Records `terminated_pods_tracking_finalizer_total`: a pod became, or ceased to be, terminated with the tracking
   * finalizer.
   */
  terminatedPodTracked(labels: { readonly event: "add" | "delete" }): void;
  /**
   * Records `job_pods_creation_total`, one call per creation. Upstream counts a failed creation as succeeded too; this
   * controller does not. A creation rejected because its namespace is being deleted is not counted.
   */
  podCreated(labels: { readonly reason: PodCreationReason; readonly status: "succeeded" | "failed" }): void;
  /** Records `stale_sync_skips_total`. */
  staleSyncSkipped(labels: { readonly group: string; readonly resource: string }): void;
}

export interface SyncLabels {
  readonly completion_mode: CompletionMode;
  readonly result: "success" | "error";
  readonly action: SyncAction;
}

/** Discards all measurements. The default. */
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

/** Definition of a metric for its registration. */
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
 * with a short one. The four that list label values have other texts, which include `FailIndex`.
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
 * Counts the difference between a written status and the previous one. Both index texts are parsed with the current
 * completions, so that lowering completions decreases nothing. Upstream loses the counts of a write when the removal of
 * a finalizer fails.
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
