/** Labels, annotations and finalizers of Jobs and CronJobs. Upstream: `k8s.io/api/batch/v1`. */
export const JOB_TRACKING_FINALIZER = "batch.kubernetes.io/job-tracking";
export const JOB_COMPLETION_INDEX_ANNOTATION = "batch.kubernetes.io/job-completion-index";
export const JOB_INDEX_FAILURE_COUNT_ANNOTATION = "batch.kubernetes.io/job-index-failure-count";
export const JOB_INDEX_IGNORED_FAILURE_COUNT_ANNOTATION = "batch.kubernetes.io/job-index-ignored-failure-count";
export const JOB_NAME_LABEL = "batch.kubernetes.io/job-name";
export const LEGACY_JOB_NAME_LABEL = "job-name";
export const CONTROLLER_UID_LABEL = "batch.kubernetes.io/controller-uid";
export const LEGACY_CONTROLLER_UID_LABEL = "controller-uid";
export const JOB_CONTROLLER_NAME = "kubernetes.io/job-controller";
export const CRONJOB_SCHEDULED_TIMESTAMP_ANNOTATION = "batch.kubernetes.io/cronjob-scheduled-timestamp";
export const CRONJOB_INSTANTIATE_ANNOTATION = "cronjob.kubernetes.io/instantiate";

/** Finalizers that carry a deletion's propagation policy. Upstream: apimachinery `metav1`. */
export const ORPHAN_FINALIZER = "orphan";
export const FOREGROUND_DELETION_FINALIZER = "foregroundDeletion";
