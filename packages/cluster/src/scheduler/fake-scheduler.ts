import {
  type DeepReadonly,
  type Node,
  type ObjectKey,
  type Pod,
  findCondition,
  formatTime,
  keyOf,
  nodes,
  pods,
} from "@kubewright/api";
import { type ResourceClient, isNotFound } from "@kubewright/client";
import type { Clock } from "@kubewright/clock";
import {
  type ControllerDeps,
  ControllerShell,
  type EventSink,
  type Runnable,
  isPodTerminal,
} from "@kubewright/controller";
import { type SharedInformer, deletedObject } from "@kubewright/informer";
import { ItemExponentialFailureRateLimiter, type RateLimitingQueue } from "@kubewright/workqueue";

import { NodeAllocations } from "./node-allocations.js";
import { type PodRequests, podRequests } from "./resources.js";
import { UnschedulablePods } from "./unschedulable-pods.js";

export interface FakeSchedulerOptions extends ControllerDeps {
  /** Name of this scheduler; pods with another `schedulerName` are ignored. Default: `default-scheduler`. */
  readonly schedulerName?: string;
}

/**
 * A scheduler for simulated nodes: binds each pod to the first node by name that is ready and schedulable, whose taints
 * the pod tolerates, that the pod selects, and that has room.
 *
 * A pod that fits nowhere gets the condition `PodScheduled` `False`, reason `Unschedulable`, once. The scheduler
 * retries it when a node gets room, the longest-waiting pod first. It binds one pod at a time.
 *
 * Events, conditions and bindings are those of kube-scheduler. The choice of the node is not: pod affinity,
 * preferences, spreading, priorities and preemption are not implemented.
 */
export class FakeScheduler implements Runnable {
  readonly name = "fake-scheduler";
  readonly #shell: ControllerShell;
  readonly #schedulerName: string;
  readonly #clock: Clock;
  readonly #events: EventSink;
  readonly #podClient: ResourceClient<Pod>;
  readonly #pods: SharedInformer<Pod>;
  readonly #nodes: SharedInformer<Node>;
  readonly #queue: RateLimitingQueue<ObjectKey>;
  readonly #allocations = new NodeAllocations();
  readonly #unschedulable = new UnschedulablePods();
  /** Names of nodes that may have room for an unschedulable pod. */
  readonly #nodesWithRoom = new Set<string>();

  constructor(options: FakeSchedulerOptions) {
    const { schedulerName = "default-scheduler" } = options;
    const shell = new ControllerShell(options, {
      name: this.name,
      component: schedulerName,
      logMessages: { starting: "Starting simulated scheduler", stopped: "Shutting down simulated scheduler" },
    });
    this.#shell = shell;
    this.#schedulerName = schedulerName;
    this.#clock = shell.clock;
    this.#events = shell.events;
    this.#podClient = shell.client.resource(pods);
    this.#pods = shell.informer(pods);
    this.#nodes = shell.informer(nodes);
    this.#queue = shell.addLoop({
      queue: this.name,
      rateLimiter: new ItemExponentialFailureRateLimiter({ baseDelayMs: 1_000, maxDelayMs: 10_000 }),
      reconcile: (key, signal) => this.#schedule(key, signal),
      describeError: "Error scheduling pod",
    });
    this.#pods.addEventHandler({
      onAdd: (pod) => this.#podChanged(undefined, pod),
      onUpdate: (old, pod) => this.#podChanged(old, pod),
      onDelete: (deleted) => this.#podDeleted(deletedObject(deleted)),
    });
    this.#nodes.addEventHandler({
      onAdd: (node) => this.#nodeChanged(node),
      onUpdate: (_old, node) => this.#nodeChanged(node),
      onDelete: (deleted) => this.#allocations.removeNode(deletedObject(deleted)?.metadata.name ?? ""),
    });
  }

  run(signal: AbortSignal): Promise<void> {
    return this.#shell.run(signal);
  }

  #podChanged(old: DeepReadonly<Pod> | undefined, pod: DeepReadonly<Pod>): void {
    if (old !== undefined && old.metadata.uid !== pod.metadata.uid) this.#podDeleted(old);
    const uid = pod.metadata.uid ?? "";
    const key = keyOf(pod);
    const nodeName = pod.spec?.nodeName;
    if (isPodTerminal(pod)) {
      this.#unschedulable.remove(key);
      this.#release(uid);
    } else if (nodeName) {
      this.#unschedulable.remove(key);
      if (this.#allocations.nodeOf(uid) === nodeName) return;
      this.#release(uid);
      this.#allocations.reserve(uid, nodeName, podRequests(pod));
    } else if (!this.#isResponsibleFor(pod)) {
      this.#unschedulable.remove(key);
    } else if (!this.#unschedulable.has(key) || old?.metadata.generation !== pod.metadata.generation) {
      // The scheduler's own condition changes the status of an unschedulable pod; that is no reason for a retry.
      this.#queue.add(key);
    }
  }

  #podDeleted(pod: DeepReadonly<Pod> | undefined): void {
    if (pod === undefined) return;
    this.#unschedulable.remove(keyOf(pod));
    this.#release(pod.metadata.uid ?? "");
  }

  #nodeChanged(node: DeepReadonly<Node>): void {
    this.#allocations.setNode(node);
    this.#nodesWithRoom.add(node.metadata.name ?? "");
    this.#queueNextUnschedulable();
  }

  #isResponsibleFor(pod: DeepReadonly<Pod>): boolean {
    const { spec, metadata } = pod;
    return (
      !spec?.nodeName &&
      !metadata.deletionTimestamp &&
      (spec?.schedulerName ?? this.#schedulerName) === this.#schedulerName &&
      (spec?.schedulingGates ?? []).length === 0 &&
      !isPodTerminal(pod)
    );
  }

  #release(uid: string): void {
    const nodeName = this.#allocations.release(uid);
    if (nodeName === undefined || this.#unschedulable.size === 0) return;
    this.#nodesWithRoom.add(nodeName);
    this.#queueNextUnschedulable();
  }

  /**
   * Queues one unschedulable pod that fits on a node with new room.
   *
   * Each scheduled pod queues the next one. So a node stays in the set until no unschedulable pod fits on it.
   */
  #queueNextUnschedulable(): void {
    if (this.#unschedulable.size === 0) {
      if (this.#nodesWithRoom.size > 0) this.#nodesWithRoom.clear();
      return;
    }
    if (this.#queue.length > 0) return;
    for (const nodeName of this.#nodesWithRoom) {
      const key = this.#unschedulable.takeFirst((requests) => this.#allocations.fits(nodeName, requests));
      if (key !== undefined) return this.#queue.add(key);
      this.#nodesWithRoom.delete(nodeName);
    }
  }

  async #schedule(key: ObjectKey, signal: AbortSignal): Promise<void> {
    this.#unschedulable.remove(key);
    try {
      const pod = this.#pods.store.get(key);
      if (
        pod === undefined ||
        !this.#isResponsibleFor(pod) ||
        this.#allocations.nodeOf(pod.metadata.uid ?? "") !== undefined
      )
        return;
      const requests = podRequests(pod);
      const nodeName = this.#allocations.firstFit(requests);
      if (nodeName !== undefined) return await this.#bind(key, pod, requests, nodeName, signal);
      // Before the condition is written: if a node gets room meanwhile, it must find the pod here.
      this.#unschedulable.add(key, requests);
      await this.#reportUnschedulable(pod, this.#allocations.explain(requests), signal);
    } finally {
      this.#queueNextUnschedulable();
    }
  }

  /**
   * Reserves the pod's requests on the node before the request, so that the next placement does not depend on a cache
   * that lags behind.
   */
  async #bind(
    key: ObjectKey,
    pod: DeepReadonly<Pod>,
    requests: PodRequests,
    nodeName: string,
    signal: AbortSignal,
  ): Promise<void> {
    const { name = "", namespace, uid = "" } = pod.metadata;
    this.#allocations.reserve(uid, nodeName, requests);
    const binding = {
      apiVersion: "v1",
      kind: "Binding",
      metadata: { name, namespace, uid },
      target: { apiVersion: "v1", kind: nodes.kind, name: nodeName },
    };
    try {
      await this.#podClient.createSubresource(name, "binding", binding, { namespace, signal });
    } catch (error) {
      const current = this.#pods.store.get(key);
      if (current?.metadata.uid !== uid || !current.spec?.nodeName) this.#release(uid);
      if (isNotFound(error)) return;
      throw error;
    }
    this.#events.event(pod, pods, "Normal", "Scheduled", `Successfully assigned ${key} to ${nodeName}`);
  }

  async #reportUnschedulable(pod: DeepReadonly<Pod>, message: string, signal: AbortSignal): Promise<void> {
    const { name = "", namespace } = pod.metadata;
    const scheduled = findCondition(pod.status?.conditions, "PodScheduled");
    if (scheduled?.status === "False" && scheduled.reason === "Unschedulable") return;
    this.#events.event(pod, pods, "Warning", "FailedScheduling", message);
    const lastTransitionTime = formatTime(this.#clock.now());
    const condition = { type: "PodScheduled", status: "False", reason: "Unschedulable", message, lastTransitionTime };
    try {
      await this.#podClient.patch(
        name,
        { type: "strategic", body: { status: { conditions: [condition] } } },
        { namespace, signal, subresource: "status" },
      );
    } catch (error) {
      if (!isNotFound(error)) throw error;
    }
  }
}
