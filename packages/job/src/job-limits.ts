/** Limits that are constants upstream. Tests, and users who want shorter delays, set them. */
export interface JobLimits {
  /** Delay before a failed pod is replaced; doubled by each further failure. */
  readonly podBackoffBaseMs: number;
  /** Maximum delay. */
  readonly podBackoffMaxMs: number;
  /** Maximum number of ended pods that one sync counts. It bounds the size of `uncountedTerminatedPods`. */
  readonly maxUncountedPods: number;
  /** Maximum number of pods that one sync creates, and maximum number of surplus pods that it deletes. */
  readonly maxPodsPerSync: number;
}

/** Upstream: the constants in job_controller.go and backoff_utils.go. */
export const defaultJobLimits: JobLimits = {
  podBackoffBaseMs: 10_000,
  podBackoffMaxMs: 600_000,
  maxUncountedPods: 500,
  maxPodsPerSync: 500,
};
