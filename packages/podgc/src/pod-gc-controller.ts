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
  /** Ended pods of the whole cluster that are let be; none are collected when not positive. Default 12500. */
  readonly terminatedPodThreshold?: number;
  /** From the end of a pass to the next. Default 20,000, as upstream. */
  readonly periodMs?: number;
  /** How long a node is missing before its pods are given up. Default 40,000, as upstream. */
  readonly quarantineMs?: number;
  readonly metrics?: PodGCMetrics | undefined;
  /** Told of every pod that was to be collected. */
  readonly onDecision?: (decision: PodGCDecision) => void;
}

type PodObject = DeepReadonly<Pod>;

/**
 * Deletes pods that nobody else will: ended ones beyond a threshold, and those whose node is gone, out of service, or was
 * never there.
 *
 * Looks at everything every period, and only then. A pass that found nothing is not repeated before there may be something
 * to find, and then at the time at which it would have come, so that a healthy cluster costs nothing.
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
  /** Whether a cache has changed, since the last pass began, in a way that may give a pass something to do. */
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

  /** How many ended pods its cache has. */
  get terminatedPods(): number {
    return this.#podCounts.terminated;
  }

  /** @throws StopTimeoutError when a pass under way does not end in time. */
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

  /** One pass. Answers whether there was anything to do, or will be when time has passed. */
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

  /** Told from counts alone, as most passes find nothing among many pods. */
  #hasNothingToDo(): boolean {
    if (this.#podCounts.terminating > 0 || this.#exceedsThreshold() || !this.#quarantine.isEmpty) return false;
    for (const name of this.#podCounts.nodeNames()) if (this.#node(name) === undefined) return false;
    return true;
  }

  #exceedsThreshold(): boolean {
    return this.#threshold > 0 && this.#podCounts.terminated > this.#threshold;
  }

  /** Whether a pass may find something about this pod, other than that there are too many. */
  #mayNeedCollection({ metadata, spec }: PodObject): boolean {
    const terminating = Boolean(metadata.deletionTimestamp);
    if (!spec?.nodeName) return terminating;
    const node = this.#node(spec.nodeName);
    return node === undefined || (terminating && isOutOfService(node));
  }

  #node(name: string): DeepReadonly<Node> | undefined {
    return this.#nodes.store.get(objectKey({ name }));
  }

  /** A cache has changed: there has to be another pass if what has changed, or the number of pods, asks for it. */
  #recordChange(needsPass: boolean): void {
    if (!needsPass && !this.#exceedsThreshold()) return;
    this.#changed = true;
    this.#wake?.();
  }

  /** Pods on nodes that have been missing for the time of the quarantine, and that the API server says are gone. */
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

  /** Asks the API server, as the cache may lag behind a node that has just come. A name it cannot tell about waits anew. */
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

  /** Resolves when a pass may find what the last one could not. @throws the signal's reason when it aborts first. */
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
