/** The reason for collecting a pod: the `reason` label of the metrics. */
export type PodGCReason = "terminated" | "out-of-service" | "orphaned" | "unscheduled";

/** The outcome for one pod that was selected for collection. */
export interface PodGCDecision {
  readonly atMs: number;
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly reason: PodGCReason;
  /** The node of the pod; absent for an unscheduled pod. */
  readonly nodeName?: string;
  /** `failed`: the API server refused a request. A later pass retries if it selects the pod again. */
  readonly outcome: "deleted" | "failed";
  /** Whether the pod was not terminated and was marked `Failed` first. */
  readonly markedFailed: boolean;
  /** One sentence: the reason, or the error. */
  readonly message: string;
}
