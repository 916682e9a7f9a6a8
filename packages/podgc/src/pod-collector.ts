import { type DeepReadonly, type Pod, type PodCondition, pods } from "@kubewright/api";
import { type Client, type Writer, errorMessage } from "@kubewright/client";
import type { Clock } from "@kubewright/clock";
import type { Logger } from "@kubewright/controller";

import type { PodGCDecision, PodGCReason } from "./decision.js";
import { markFailedAndDeletePod } from "./force-delete.js";

export interface PodGCMetrics {
  /** `pod_gc_collector_force_delete_pods_total`: counts attempts, not successes. */
  forceDeletedPod(labels: { readonly namespace: string; readonly reason: PodGCReason }): void;
  /** `pod_gc_collector_force_delete_pod_errors_total`. */
  forceDeletePodError(labels: { readonly namespace: string; readonly reason: PodGCReason }): void;
}

export interface PodCollectorOptions {
  readonly client: Pick<Client, "resource">;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics?: PodGCMetrics | undefined;
  /** Called with every error. */
  readonly onFailure?: ((error: unknown) => void) | undefined;
  /** Called for every pod that was selected for collection. */
  readonly onDecision?: ((decision: PodGCDecision) => void) | undefined;
}

/** Deletes pods by force, and reports each deletion to logs, metrics and callbacks. */
export class PodCollector {
  readonly #options: PodCollectorOptions;
  readonly #client: Writer<Pod>;

  constructor(options: PodCollectorOptions) {
    this.#options = options;
    this.#client = options.client.resource(pods);
  }

  async collect(
    pod: DeepReadonly<Pod>,
    reason: PodGCReason,
    signal: AbortSignal,
    condition?: PodCondition,
  ): Promise<void> {
    if (signal.aborted) return;
    const { clock, logger, metrics, onFailure, onDecision } = this.#options;
    const { namespace = "", name = "", uid = "" } = pod.metadata;
    const labels = { namespace, reason };
    const subject = { pod: `${namespace}/${name}`, podUID: uid, reason };
    logger.info(subject, "PodGC is force deleting Pod");
    // Upstream counts this reason before the attempt, and the other reasons after it.
    if (reason === "out-of-service") metrics?.forceDeletedPod(labels);
    let markedFailed = false;
    let failure: string | undefined;
    try {
      const options = condition === undefined ? { signal } : { signal, condition };
      markedFailed = await markFailedAndDeletePod(this.#client, pod, options);
    } catch (error) {
      failure = errorMessage(error);
      onFailure?.(error);
      metrics?.forceDeletePodError(labels);
      if (!signal.aborted) logger.error({ ...subject, err: failure }, "Unhandled Error");
    }
    if (reason !== "out-of-service") metrics?.forceDeletedPod(labels);
    const success = SUCCESS_MESSAGES[reason];
    if (failure === undefined && success !== undefined) logger.info(subject, success);
    const nodeName = pod.spec?.nodeName;
    onDecision?.({
      atMs: clock.now(),
      namespace,
      name,
      uid,
      reason,
      ...(nodeName ? { nodeName } : {}),
      outcome: failure === undefined ? "deleted" : "failed",
      markedFailed,
      message: failure ?? REASON_TEXTS[reason],
    });
  }
}

/** Log messages for pods that are deleted sequentially. Upstream logs no message for the other reasons. */
const SUCCESS_MESSAGES: Readonly<Partial<Record<PodGCReason, string>>> = {
  orphaned: "Forced deletion of orphaned Pod succeeded",
  unscheduled: "Forced deletion of unscheduled terminating Pod succeeded",
};

const REASON_TEXTS: Readonly<Record<PodGCReason, string>> = {
  terminated: "the cluster has more terminated pods than the threshold",
  "out-of-service": "the pod is terminating and its node is not ready and out of service",
  orphaned: "the pod's node no longer exists",
  unscheduled: "the pod is terminating and was never scheduled",
};
