import { type DeepReadonly, type Pod, pods } from "@kubewright/api";
import { errorMessage } from "@kubewright/client";
import { type ControllerDeps, ControllerShell, type Runnable } from "@kubewright/controller";

import type { PodGCDecision } from "./decision.js";
import { PodCollector, type PodGCMetrics } from "./pod-collector.js";
import { selectTerminatedPods } from "./select-pods.js";

export interface TerminatedPodCollectorOptions extends Omit<ControllerDeps, "informers" | "events"> {
  /** Ended pods of the whole cluster that are let be; none are collected when not positive. Default 12500. */
  readonly terminatedPodThreshold?: number;
  /** From the end of a pass to the next. Default 20,000, as upstream. */
  readonly periodMs?: number;
  /** About how many ended pods there are. Pods are asked for only when that is more than are let be. */
  readonly countTerminated: () => number;
  readonly metrics?: PodGCMetrics | undefined;
  /** Told of every pod that was to be collected. */
  readonly onDecision?: (decision: PodGCDecision) => void;
}

const TERMINATED_PHASES = ["Succeeded", "Failed"];
const PAGE_SIZE = 500;

/**
 * Deletes the ended pods that are too many in the whole cluster, which is the one thing of pod garbage collection that no part of
 * the namespaces can tell: for replicas that share namespaces and each run a {@link PodGCController} without a threshold. It
 * holds no pods, and asks for them when others have counted too many.
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

  /** @throws StopTimeoutError when a pass under way does not end in time. */
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

/** All that the order goes by, and that a deletion and what is told of it need. */
function reducePod({ metadata, spec, status }: DeepReadonly<Pod>): DeepReadonly<Pod> {
  const { name, namespace, uid, creationTimestamp } = metadata;
  return {
    metadata: { name, namespace, uid, creationTimestamp },
    spec: { nodeName: spec?.nodeName },
    status: { phase: status?.phase, reason: status?.reason },
  } as unknown as DeepReadonly<Pod>;
}
