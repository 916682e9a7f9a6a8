import { type DeepReadonly, type Pod, pods } from "@kubewright/api";
import { errorMessage } from "@kubewright/client";
import { type ControllerDeps, ControllerShell, type Runnable } from "@kubewright/controller";

import type { PodGCDecision } from "./decision.js";
import { PodCollector, type PodGCMetrics } from "./pod-collector.js";
import { selectTerminatedPods } from "./select-pods.js";

export interface TerminatedPodCollectorOptions extends Omit<ControllerDeps, "informers" | "events"> {
  /**
   * Number of terminated pods of the whole cluster that are kept. If it is not positive, no terminated pods are
   * collected. Default 12500.
   */
  readonly terminatedPodThreshold?: number;
  /** Time from the end of a pass to the next, in milliseconds. Default 20,000, as upstream. */
  readonly periodMs?: number;
  /** Returns the approximate number of terminated pods. Pods are listed only if it exceeds the threshold. */
  readonly countTerminated: () => number;
  readonly metrics?: PodGCMetrics | undefined;
  /** Called for every pod that was selected for collection. */
  readonly onDecision?: (decision: PodGCDecision) => void;
}

const TERMINATED_PHASES = ["Succeeded", "Failed"];
const PAGE_SIZE = 500;

/**
 * Deletes the terminated pods beyond the threshold in the whole cluster. Of the pod garbage collection, only this task
 * needs the counts of all namespaces. For replicas that share the namespaces and each run a {@link PodGCController}
 * without a threshold. Has no pod cache: it lists pods only when the replicas' counts exceed the threshold.
 *
 * @see kubernetes v1.36 pkg/controller/podgc/gc_controller.go gcTerminated
 */
export class TerminatedPodCollector implements Runnable {
  readonly name = "terminated-pod-collector";
  readonly #shell: ControllerShell;
  readonly #options: TerminatedPodCollectorOptions;
  readonly #collector: PodCollector;
  readonly #threshold: number;

  constructor(options: TerminatedPodCollectorOptions) {
    this.#options = options;
    this.#threshold = options.terminatedPodThreshold ?? 12_500;
    const logMessages = { starting: "Starting GC of ended pods", stopped: "Shutting down GC of ended pods" };
    this.#shell = new ControllerShell(options, { name: this.name, logMessages });
    this.#collector = new PodCollector({ ...options, logger: this.#shell.logger });
    this.#shell.addWork({ description: "a pass", run: (signal) => this.#passes(signal) });
  }

  /** @throws StopTimeoutError when a running pass does not end in time. */
  run(signal: AbortSignal): Promise<void> {
    return this.#shell.run(signal);
  }

  async #passes(signal: AbortSignal): Promise<void> {
    const { clock, periodMs = 20_000, countTerminated } = this.#options;
    while (!signal.aborted) {
      if (this.#threshold > 0 && countTerminated() > this.#threshold) await this.#pass(signal);
      await clock.sleep(periodMs, signal, { background: true });
    }
  }

  async #pass(signal: AbortSignal): Promise<void> {
    try {
      const terminated: DeepReadonly<Pod>[] = [];
      for (const phase of TERMINATED_PHASES) await this.#list(phase, terminated, signal);
      const excess = selectTerminatedPods(terminated, this.#threshold);
      await Promise.all(excess.map((pod) => this.#collector.collect(pod, "terminated", signal)));
    } catch (error) {
      this.#options.onFailure?.(error);
      if (!signal.aborted) this.#shell.logger.error({ err: errorMessage(error) }, "Error while listing ended pods");
    }
  }

  async #list(phase: string, into: DeepReadonly<Pod>[], signal: AbortSignal): Promise<void> {
    const client = this.#shell.client.resource(pods);
    let token: string | undefined;
    do {
      const page = token === undefined ? {} : { continue: token };
      const { items, metadata } = await client.list({
        fieldSelector: `status.phase=${phase}`,
        limit: PAGE_SIZE,
        signal,
        mapItem: reducePod,
        ...page,
      });
      into.push(...items);
      token = metadata.continue || undefined;
    } while (token !== undefined);
  }
}

/** Keeps only the fields that the deletion order, the deletion and its report need. */
function reducePod({ metadata, spec, status }: DeepReadonly<Pod>): DeepReadonly<Pod> {
  const { name, namespace, uid, creationTimestamp } = metadata;
  return {
    metadata: { name, namespace, uid, creationTimestamp },
    spec: { nodeName: spec?.nodeName },
    status: { phase: status?.phase, reason: status?.reason },
  } as unknown as DeepReadonly<Pod>;
}
