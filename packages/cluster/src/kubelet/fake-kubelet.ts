import {
  type DeepReadonly,
  type Node,
  type ObjectKey,
  type Pod,
  compareResourceVersions,
  formatTime,
  keyOf,
  nodes,
  objectKey,
  pods,
} from "@kubewright/api";
import { type ResourceClient, isConflict, isInvalid, isNotFound } from "@kubewright/client";
import type { Clock, Random } from "@kubewright/clock";
import {
  type ControllerDeps,
  ControllerShell,
  type EventSink,
  type Runnable,
  isPodTerminal,
} from "@kubewright/controller";
import { type SharedInformer, isDeletedFinalStateUnknown } from "@kubewright/informer";
import { ItemExponentialFailureRateLimiter, type RateLimitingQueue } from "@kubewright/workqueue";

import { lengthen } from "./crash-loop-back-off.js";
import { type PodEnd, type PodStep, decideStep, isLingering } from "./decide-step.js";
import { PodOutcomeSampler } from "./pod-outcome-sampler.js";
import { randomAddress, nodeAddress, readyConditionPatch, readyNodeStatus } from "./node-status.js";
import type { Ending, PodRun, Stage } from "./pod-run.js";
import {
  type PodStatusPatch,
  type StatusContext,
  acceptedStatus,
  backOffStatus,
  ending,
  endingPerContainer,
  finishedStatus,
  runningStatus,
} from "./pod-status.js";
import { resumeRun } from "./resume-run.js";
import { WorkloadCache } from "./workload.js";

export interface FakeKubeletOptions extends ControllerDeps {
  /** Names of the simulated nodes. Default: all present and future nodes. */
  readonly nodes?: readonly string[];
  /** Maximum number of pods that are processed concurrently. Default 20. */
  readonly workers?: number;
}

/** Retries at least every ten seconds, like the kubelet's status manager. */
const RETRY = { baseDelayMs: 100, maxDelayMs: 10_000 };

/**
 * Simulates the kubelet of nodes. It moves bound pods through the statuses that a real node writes, with the durations
 * in the pods' annotations. It removes deleted pods after their end.
 *
 * There is one write per step: accepted, running, ended, and two for each restart after a back-off. A pod has a timer
 * only while its next step depends on time.
 */
export class FakeKubelet implements Runnable {
  readonly name = "fake-kubelet";
  readonly #shell: ControllerShell;
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #sampler: PodOutcomeSampler;
  readonly #workloads = new WorkloadCache();
  readonly #ownNodes: ReadonlySet<string> | undefined;
  readonly #podClient: ResourceClient<Pod>;
  readonly #nodeClient: ResourceClient<Node>;
  readonly #pods: SharedInformer<Pod>;
  readonly #nodes: SharedInformer<Node>;
  readonly #events: EventSink;
  readonly #queue: RateLimitingQueue<ObjectKey>;
  readonly #runs = new Map<ObjectKey, PodRun>();
  /** Nodes without a connection to the API server. */
  readonly #cutOff = new Set<string>();

  constructor(options: FakeKubeletOptions) {
    const { workers = 20, nodes: owned } = options;
    const shell = new ControllerShell(options, {
      name: this.name,
      component: "kubelet",
      logMessages: { starting: "Starting simulated kubelet", stopped: "Shutting down simulated kubelet" },
    });
    this.#shell = shell;
    this.#clock = shell.clock;
    this.#random = shell.random;
    this.#events = shell.events;
    this.#sampler = new PodOutcomeSampler(shell.random);
    this.#ownNodes = owned === undefined ? undefined : new Set(owned);
    this.#podClient = shell.client.resource(pods);
    this.#nodeClient = shell.client.resource(nodes);
    this.#pods = shell.informer(pods);
    this.#nodes = shell.informer(nodes);
    this.#queue = shell.addLoop({
      queue: "kubelet",
      workers,
      rateLimiter: new ItemExponentialFailureRateLimiter(RETRY),
      reconcile: (key, signal) => this.#syncPod(key, signal),
      describeError: "Error syncing pod, skipping",
    });
    const nodeQueue = shell.addLoop({
      queue: "kubelet_node_status",
      workers,
      rateLimiter: new ItemExponentialFailureRateLimiter(RETRY),
      reconcile: (key, signal) => this.#syncNode(key, signal),
      describeError: "Error updating node status, will retry",
    });
    shell.onStopped(() => {
      for (const run of this.#runs.values()) run.timer?.cancel();
    });
    this.#pods.addEventHandler({
      onAdd: (pod) => this.#handlePod(pod),
      onUpdate: (_old, pod) => this.#handlePod(pod),
      onDelete: (deleted) => this.#forget(isDeletedFinalStateUnknown(deleted) ? deleted.key : keyOf(deleted)),
    });
    this.#nodes.addEventHandler({
      onAdd: (node) => {
        if (this.#owns(node.metadata.name)) nodeQueue.add(keyOf(node));
      },
    });
  }

  run(signal: AbortSignal): Promise<void> {
    return this.#shell.run(signal);
  }

  /**
   * Disconnects a node until {@link reconnect}: its containers continue to run, but it writes no status and observes no
   * changes.
   */
  cutOff(nodeName: string): void {
    this.#cutOff.add(nodeName);
  }

  /** Ends {@link cutOff}: the node becomes ready, and updates its pods. */
  async reconnect(nodeName: string, signal: AbortSignal): Promise<void> {
    if (!this.#cutOff.delete(nodeName)) return;
    const node = this.#nodes.store.get(objectKey({ name: nodeName }));
    if (node !== undefined) await this.#patchNode(nodeName, readyConditionPatch(formatTime(this.#clock.now())), signal);
    for (const pod of this.#pods.store.list()) if (pod.spec?.nodeName === nodeName) this.#queue.add(keyOf(pod));
  }

  #owns(nodeName: string | undefined): boolean {
    return !!nodeName && (this.#ownNodes === undefined || this.#ownNodes.has(nodeName));
  }

  /**
   * Handles a pod event. Most updates result from this kubelet's own writes; only updates that can change the next step
   * are queued.
   */
  #handlePod(pod: DeepReadonly<Pod>): void {
    if (!this.#owns(pod.spec?.nodeName)) return;
    const key = keyOf(pod);
    let run = this.#runs.get(key);
    if (run !== undefined && run.uid !== pod.metadata.uid) {
      this.#forget(key);
      run = undefined;
    }
    if (isPodTerminal(pod)) {
      // Another client may have ended the pod, such as a garbage collector that considered the node lost.
      const endedHere = run?.stage.name === "finished";
      this.#forget(key);
      if (isLingering(pod) && !endedHere) this.#queue.add(key);
    } else if (run === undefined || nextStepMayChange(pod, run.latest)) {
      this.#queue.add(key);
    }
  }

  async #syncNode(key: ObjectKey, signal: AbortSignal): Promise<void> {
    const node = this.#nodes.store.get(key);
    if (node === undefined) return;
    const body = readyNodeStatus(node, formatTime(this.#clock.now()), this.#random);
    if (body === undefined || this.#cutOff.has(key)) return;
    await this.#patchNode(key, body, signal);
  }

  async #patchNode(name: string, body: object, signal: AbortSignal): Promise<void> {
    try {
      await this.#nodeClient.patch(name, { type: "strategic", body }, { subresource: "status", signal });
    } catch (error) {
      if (!isNotFound(error)) throw error;
    }
  }

  async #syncPod(key: ObjectKey, signal: AbortSignal): Promise<void> {
    const pod = this.#pods.store.get(key);
    if (pod === undefined) return this.#forget(key);
    if (this.#cutOff.has(pod.spec?.nodeName ?? "")) return;
    if (isPodTerminal(pod)) {
      this.#forget(key);
      if (isLingering(pod)) await this.#remove(pod, signal);
      return;
    }
    const run = this.#runOf(key, pod);
    // Decides the next step after each write, so that steps that are due at the same time do not pass through the
    // queue.
    while (!signal.aborted) {
      const current = run.latest ?? pod;
      const nowMs = this.#clock.monotonic();
      const step = decideStep(current, run, nowMs, this.#clock.now() - nowMs);
      if (step.type === "wait") return this.#wait(key, run, step.untilMs - nowMs);
      // The run of an ended pod is kept until the cache has the end, so that a stale running pod is not started again.
      if (step.type === "remove") return this.#remove(current, signal);
      const change = this.#change(current, run, step);
      if (change === undefined) return this.#forget(key);
      try {
        run.latest = await this.#write(current, change.body, signal);
      } catch (error) {
        if (this.#isGone(key, run, error)) return this.#forget(key);
        throw error;
      }
      if (run.latest.metadata.deletionTimestamp !== undefined) run.deletionSeenAtMs ??= this.#clock.monotonic();
      if (change.acceptedAtMs !== undefined) run.acceptedAtMs = change.acceptedAtMs;
      run.stage = change.stage;
    }
  }

  /** Returns the run of a pod, updated from the cache. */
  #runOf(key: ObjectKey, pod: DeepReadonly<Pod>): PodRun {
    const nowMs = this.#clock.monotonic();
    let run = this.#runs.get(key);
    if (run === undefined || run.uid !== pod.metadata.uid) {
      if (run !== undefined) this.#forget(key);
      const { workload, problems } = this.#workloads.of(pod);
      for (const problem of problems) this.#events.event(pod, pods, "Warning", "InvalidWorkload", problem);
      run = resumeRun(pod, workload, this.#sampler, nowMs, this.#clock.now() - nowMs);
      this.#runs.set(key, run);
    }
    if (run.latest === undefined || isNewer(pod, run.latest)) run.latest = pod;
    if (run.latest.metadata.deletionTimestamp !== undefined) run.deletionSeenAtMs ??= nowMs;
    return run;
  }

  /** Returns the status change of a step; `undefined` if the run is in another stage. */
  #change(
    pod: DeepReadonly<Pod>,
    run: PodRun,
    step: Exclude<PodStep, { type: "wait" | "remove" }>,
  ): StatusChange | undefined {
    const nowMs = this.#clock.monotonic();
    const { stage } = run;
    switch (step.type) {
      case "accept": {
        const nodeName = pod.spec?.nodeName ?? "";
        const hostIP = nodeAddress(this.#nodes.store.get(objectKey({ name: nodeName })), nodeName, this.#random);
        const startAtMs = nowMs + this.#sampler.startupDelayMs(run.workload, run.identity);
        return {
          body: acceptedStatus(this.#context(pod), hostIP),
          acceptedAtMs: nowMs,
          stage: { name: "starting", startAtMs },
        };
      }
      case "start":
        return this.#start(pod, run, 0, undefined);
      case "restart":
      case "backOff": {
        if (stage.name !== "running") return undefined;
        const { exitedAtMs } = step;
        const { restarts } = stage;
        const last = this.#ending(stage, { cause: "exited", exitCode: step.exitCode }, exitedAtMs);
        if (step.type === "restart") {
          run.backOff = lengthen(run.backOff, exitedAtMs, nowMs);
          return this.#start(pod, run, restarts + 1, last);
        }
        const { restartAtMs } = step;
        return {
          body: backOffStatus(this.#context(pod), restarts, restartAtMs - exitedAtMs, last),
          stage: { name: "backingOff", restarts, exitedAtMs, restartAtMs, last },
        };
      }
      case "resume": {
        if (stage.name !== "backingOff") return undefined;
        run.backOff = lengthen(run.backOff, stage.exitedAtMs, nowMs);
        return this.#start(pod, run, stage.restarts + 1, stage.last);
      }
      case "finish":
        return this.#finish(pod, run, step.end);
      default:
        return step satisfies never;
    }
  }

  #context(pod: DeepReadonly<Pod>): StatusContext {
    return { pod, now: formatTime(this.#clock.now()) };
  }

  #start(pod: DeepReadonly<Pod>, run: PodRun, restarts: number, last: Ending | undefined): StatusChange {
    const context = this.#context(pod);
    const podIP = pod.status?.podIP ?? randomAddress("10.244", this.#random.fork(`${run.identity.label}/address`));
    const execution = this.#sampler.sampleExecution(pod, run.workload, run.identity, restarts);
    return {
      body: runningStatus(context, podIP, restarts, last),
      stage: { name: "running", restarts, startedAtMs: this.#clock.monotonic(), startedAt: context.now, execution },
    };
  }

  #finish(pod: DeepReadonly<Pod>, { stage }: PodRun, end: PodEnd): StatusChange {
    const nowMs = this.#clock.monotonic();
    const restarts = stage.name === "running" || stage.name === "backingOff" ? stage.restarts : 0;
    let ended: Ending | undefined;
    if (stage.name === "running") {
      // If the API server was unreachable, the containers may have exited long before.
      const exitAtMs = stage.startedAtMs + stage.execution.durationMs;
      ended = this.#ending(stage, end, end.cause === "exited" ? Math.min(exitAtMs, nowMs) : nowMs);
    } else if (stage.name === "backingOff") ended = stage.last;
    return { body: finishedStatus(this.#context(pod), end, restarts, ended), stage: { name: "finished" } };
  }

  #ending(stage: Extract<Stage, { name: "running" }>, end: PodEnd, atMs: number): Ending {
    const wallOffsetMs = this.#clock.now() - this.#clock.monotonic();
    const timeAt = (ms: number): string => formatTime(ms + wallOffsetMs);
    const common = ending(end, stage.startedAt, timeAt(atMs));
    if (stage.execution.containers === undefined) return common;
    return endingPerContainer(common, stage.execution, atMs - stage.startedAtMs, (ms) =>
      timeAt(stage.startedAtMs + ms),
    );
  }

  #write({ metadata }: DeepReadonly<Pod>, body: PodStatusPatch, signal: AbortSignal): Promise<DeepReadonly<Pod>> {
    const { name = "", namespace } = metadata;
    return this.#podClient.patch(name, { type: "strategic", body }, { namespace, subresource: "status", signal });
  }

  /** Whether a write was refused because the pod is deleted or replaced by another pod of the same name. */
  #isGone(key: ObjectKey, { uid }: PodRun, error: unknown): boolean {
    return isNotFound(error) || (isInvalid(error) && this.#pods.store.get(key)?.metadata.uid !== uid);
  }

  async #remove({ metadata: { name = "", namespace, uid } }: DeepReadonly<Pod>, signal: AbortSignal): Promise<void> {
    const preconditions = uid === undefined ? {} : { preconditions: { uid } };
    try {
      await this.#podClient.delete(name, { namespace, gracePeriodSeconds: 0, ...preconditions, signal });
    } catch (error) {
      if (!isNotFound(error) && !isConflict(error)) throw error;
    }
  }

  #wait(key: ObjectKey, run: PodRun, delayMs: number): void {
    run.timer?.cancel();
    run.timer = undefined;
    if (delayMs === Infinity || this.#runs.get(key) !== run) return;
    run.timer = this.#clock.setTimer(delayMs, () => {
      run.timer = undefined;
      this.#queue.add(key);
    });
  }

  #forget(key: ObjectKey): void {
    this.#runs.get(key)?.timer?.cancel();
    this.#runs.delete(key);
  }
}

/** A write, and the stage of the run after it. */
interface StatusChange {
  readonly body: PodStatusPatch;
  readonly stage: Stage;
  readonly acceptedAtMs?: number;
}

function isNewer(pod: DeepReadonly<Pod>, than: DeepReadonly<Pod>): boolean {
  return (compareResourceVersions(pod.metadata.resourceVersion ?? "", than.metadata.resourceVersion ?? "") ?? 1) > 0;
}

/** Whether another client changed a field that affects the pod's next step. */
function nextStepMayChange(pod: DeepReadonly<Pod>, known: DeepReadonly<Pod> | undefined): boolean {
  return (
    pod.metadata.deletionTimestamp !== known?.metadata.deletionTimestamp ||
    pod.spec?.activeDeadlineSeconds !== known?.spec?.activeDeadlineSeconds
  );
}
