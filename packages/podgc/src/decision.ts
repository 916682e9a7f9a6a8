/** Why a pod is collected: the `reason` label of the metrics. */
export type PodGCReason = "terminated" | "out-of-service" | "orphaned" | "unscheduled";

/** What became of one pod that was to be collected. */
export interface PodGCDecision {
  readonly atMs: number;
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly reason: PodGCReason;
  /** The node the pod was bound to, if it was. */
  readonly nodeName?: string;
  /** `failed`: the API server refused, and a later pass tries again if the pod is selected then. */
  readonly outcome: "deleted" | "failed";
  /** Whether the pod had not ended and was marked `Failed` first. */
  readonly markedFailed: boolean;
  /** One sentence: why, or what was refused. */
  readonly message: string;
}
