import { type DeepReadonly, type Node, type Pod, keyOf, nodes, objectKey, pods } from "@kubewright/api";
import { type Reader, errorMessage, isNotFound } from "@kubewright/client";
import type { Clock } from "@kubewright/clock";
import { type ControllerDeps, ControllerShell, type Logger, type Runnable } from "@kubewright/controller";
import { type SharedInformer, isDeletedFinalStateUnknown } from "@kubewright/informer";

import type { PodGCDecision } from "./decision.js";
import { nodeGoneCondition } from "./failed-status-patch.js";
import { NodeQuarantine } from "./node-quarantine.js";
import { PodCounts, hasEqualCounts } from "./pod-counts.js";
import { PodCollector, type PodGCMetrics } from "./pod-collector.js";
import {
  isOutOfService,
  missingNodes,
  selectPodsOnNodes,
  selectTerminatedPods,
  selectTerminatingPodsOutOfService,
  selectUnscheduledTerminatingPods,
} from "./select-pods.js";

export interface PodGCControllerOptions extends ControllerDeps {
  /**
   * Number of terminated pods of the whole cluster that are kept. If it is not positive, no terminated pods are
   * collected. Default 12500.
   */
  readonly terminatedPodThreshold?: number;
  /** Time from the end of a pass to the next, in milliseconds. Default 20,000, as upstream. */
  readonly periodMs?: number;
  /** How long a node must be missing before its pods are collected. Default 40,000, as upstream. */
  readonly quarantineMs?: number;
  readonly metrics?: PodGCMetrics | undefined;
  /** Called for every pod that was selected for collection. */
  readonly onDecision?: (decision: PodGCDecision) => void;
}

type PodObject = DeepReadonly<Pod>;

/**
 * Deletes pods that no other component deletes: terminated pods beyond a threshold, and terminating or orphaned pods
 * whose node was deleted, is out of service, or was never assigned.
 *
 * Checks all pods once per period. A pass that found nothing is repeated only after a change that may give it work, at
 * the time when the regular pass would have run. An unchanged cluster therefore causes no work.
 *
 * @see kubernetes v1.36 pkg/controller/podgc/gc_controller.go PodGCController
 */
export class PodGCController implements Runnable {
  readonly name = "pod-garbage-collector-controller";
  readonly #shell: ControllerShell;
  readonly #nodeReader: Reader<Node>;
  readonly #clock: Clock;
  readonly #threshold: number;
  readonly #logger: Logger;
  readonly #collector: PodCollector;
  readonly #onFailure: PodGCControllerOptions["onFailure"];
  readonly #pods: SharedInformer<Pod>;
  readonly #nodes: SharedInformer<Node>;
  readonly #periodMs: number;
  readonly #quarantine: NodeQuarantine;
  readonly #podCounts = new PodCounts();
  /** Whether a cache has changed since the last pass began in a way that may require a pass. */
  #changed = false;
  #wake: (() => void) | undefined;

  constructor(options: PodGCControllerOptions) {
    const { terminatedPodThreshold = 12_500, periodMs = 20_000, quarantineMs = 40_000 } = options;
    const shell = new ControllerShell(options, {
      name: this.name,
      logMessages: { starting: "Starting GC controller", stopped: "Shutting down GC controller" },
    });
    this.#shell = shell;
    this.#collector = new PodCollector({ ...options, logger: shell.logger });
    this.#nodeReader = shell.client.resource(nodes);
    this.#clock = shell.clock;
    this.#logger = shell.logger;
    this.#threshold = terminatedPodThreshold;
    this.#periodMs = periodMs;
    this.#quarantine = new NodeQuarantine(quarantineMs);
    this.#onFailure = options.onFailure;
    this.#pods = shell.informer(pods);
    this.#nodes = shell.informer(nodes);
    shell.addWork({ description: "a pass", run: (signal) => this.#passes(signal) });
    const onPod = (pod: PodObject): void => {
      this.#podCounts.set(pod);
      this.#recordChange(this.#mayNeedCollection(pod));
    };
    this.#pods.addEventHandler({
      onAdd: onPod,
      onUpdate: (old, pod) => {
        if (!hasEqualCounts(old, pod)) onPod(pod);
      },
      onDelete: (deleted) => {
        this.#podCounts.delete(isDeletedFinalStateUnknown(deleted) ? deleted.key : keyOf(deleted));
        this.#recordChange(false);
      },
    });
    const onNode = (node: DeepReadonly<Node>): void =>
      this.#recordChange(this.#podCounts.terminating > 0 && isOutOfService(node));
    this.#nodes.addEventHandler({
      onAdd: onNode,
      onUpdate: (_old, node) => onNode(node),
      onDelete: () => this.#recordChange(!this.#hasNothingToDo()),
    });
  }

  /** Number of terminated pods in the cache. */
  get terminatedPods(): number {
    return this.#podCounts.terminated;
  }

  /** @throws StopTimeoutError when a running pass does not end in time. */
  run(signal: AbortSignal): Promise<void> {
    return this.#shell.run(signal);
  }

  async #passes(signal: AbortSignal): Promise<void> {
    await this.#shell.waitForSync(signal);
    for (;;) {
      this.#changed = false;
      const foundNothing = !(await this.#gc(signal));
      const endedMs = this.#clock.monotonic();
      if (foundNothing) await this.#waitForChange(signal);
      const sincePassMs = this.#clock.monotonic() - endedMs;
      const periods = Math.max(1, Math.ceil(sincePassMs / this.#periodMs));
      await this.#pause(periods * this.#periodMs - sincePassMs, signal);
    }
  }

  /** Runs one pass. Returns whether there was work, or will be after the quarantine of a node. */
  async #gc(signal: AbortSignal): Promise<boolean> {
    if (this.#hasNothingToDo()) return false;
    const snapshot = this.#pods.store.list();
    const terminated = selectTerminatedPods(snapshot, this.#threshold);
    await Promise.all(terminated.map((pod) => this.#collector.collect(pod, "terminated", signal)));

    const terminating = selectTerminatingPodsOutOfService(snapshot, (name) => this.#node(name));
    await Promise.all(terminating.map((pod) => this.#collector.collect(pod, "out-of-service", signal)));

    const orphaned = await this.#orphanedPods(snapshot, signal);
    for (const pod of orphaned) {
      await this.#collector.collect(pod, "orphaned", signal, nodeGoneCondition(pod, this.#clock.now()));
    }

    const unscheduled = selectUnscheduledTerminatingPods(snapshot);
    for (const pod of unscheduled) await this.#collector.collect(pod, "unscheduled", signal);

    const found = terminated.length + terminating.length + orphaned.length + unscheduled.length;
    return found > 0 || !this.#quarantine.isEmpty;
  }

  /** Uses only counts, because most passes find nothing among many pods. */
  #hasNothingToDo(): boolean {
    if (this.#podCounts.terminating > 0 || this.#exceedsThreshold() || !this.#quarantine.isEmpty) return false;
    for (const name of this.#podCounts.nodeNames()) if (this.#node(name) === undefined) return false;
    return true;
  }

  #exceedsThreshold(): boolean {
    return this.#threshold > 0 && this.#podCounts.terminated > this.#threshold;
  }

  /** Whether a pass may collect this pod for a reason other than the threshold. */
  #mayNeedCollection({ metadata, spec }: PodObject): boolean {
    const terminating = Boolean(metadata.deletionTimestamp);
    if (!spec?.nodeName) return terminating;
    const node = this.#node(spec.nodeName);
    return node === undefined || (terminating && isOutOfService(node));
  }

  #node(name: string): DeepReadonly<Node> | undefined {
    return this.#nodes.store.get(objectKey({ name }));
  }

  /** Records a change of a cache. Requests a pass if the change, or the number of terminated pods, requires one. */
  #recordChange(needsPass: boolean): void {
    if (!needsPass && !this.#exceedsThreshold()) return;
    this.#changed = true;
    this.#wake?.();
  }

  /**
   * Returns the pods on nodes that were missing for the quarantine period, and that the API server confirms as deleted.
   */
  async #orphanedPods(snapshot: readonly PodObject[], signal: AbortSignal): Promise<PodObject[]> {
    const existing = new Set(this.#nodes.store.list().map(({ metadata }) => metadata.name));
    const nowMs = this.#clock.monotonic();
    const due = this.#quarantine.takeDue(nowMs);
    this.#quarantine.add(
      missingNodes(snapshot, (name) => existing.has(name)),
      nowMs,
    );
    const deleted = new Set<string>();
    for (const name of due) if (!existing.has(name) && (await this.#isNodeGone(name, signal))) deleted.add(name);
    return selectPodsOnNodes(snapshot, deleted);
  }

  /**
   * Asks the API server, because the cache may not show a new node yet. After an error the quarantine of the node
   * starts again.
   */
  async #isNodeGone(name: string, signal: AbortSignal): Promise<boolean> {
    try {
      await this.#nodeReader.get(name, { signal });
      return false;
    } catch (error) {
      if (isNotFound(error)) return true;
      this.#onFailure?.(error);
      if (!signal.aborted) this.#logger.error({ node: name, err: errorMessage(error) }, "Error while getting node");
      return false;
    }
  }

  async #pause(durationMs: number, signal: AbortSignal): Promise<void> {
    if (durationMs > 0) await this.#clock.sleep(durationMs, signal, { background: true });
  }

  /**
   * Resolves when a pass may find work that the last one could not. @throws the signal's reason when it aborts first.
   */
  #waitForChange(signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const finish = (then: () => void): void => {
        this.#wake = undefined;
        signal.removeEventListener("abort", onAbort);
        then();
      };
      const onAbort = (): void => finish(() => reject(signal.reason as Error));
      this.#wake = () => finish(resolve);
      if (signal.aborted) onAbort();
      else if (this.#changed) this.#wake();
      else signal.addEventListener("abort", onAbort, { once: true });
    });
  }
}
