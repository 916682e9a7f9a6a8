/** Constants upstream; tests, and users without patience, set them. */
export interface JobLimits {
  /** Pause before a failed pod is replaced; doubled by each further failure. */
  readonly podBackoffBaseMs: number;
  /** Longest such pause. */
  readonly podBackoffMaxMs: number;
  /** Most ended pods that one sync accounts for, which bounds the size of `uncountedTerminatedPods`. */
  readonly maxUncountedPods: number;
  /** Most pods that one sync creates, and most that it deletes to have fewer. */
  readonly maxPodsPerSync: number;
}

/** Upstream: job_controller.go and backoff_utils.go, the constants. */
export const defaultJobLimits: JobLimits = {
  podBackoffBaseMs: 10_000,
  podBackoffMaxMs: 600_000,
  maxUncountedPods: 500,
  maxPodsPerSync: 500,
};
