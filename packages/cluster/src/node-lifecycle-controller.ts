import {
  type DeepReadonly,
  type Node,
  type Pod,
  formatTime,
  isConditionTrue,
  nodes,
  objectKey,
  pods,
} from "@kubewright/api";
import { type Client, errorMessage, isNotFound } from "@kubewright/client";
import type { Clock, Logger, Timer } from "@kubewright/clock";
import { type ControllerDeps, ControllerShell, type Runnable, isPodTerminal } from "@kubewright/controller";
import { type SharedInformer, deletedObject } from "@kubewright/informer";

import { type Taint, tolerates } from "./scheduler/placement.js";
import type { UnreachableNodes } from "./unreachable-nodes.js";

export interface NodeLifecycleOptions extends ControllerDeps {
  readonly unreachableNodes: UnreachableNodes;
}

/** Time after which a node without status is unreachable: `--node-monitor-grace-period`. */
const GRACE_PERIOD_MS = 50_000;
/** Toleration that admission adds to pods without tolerations of unreachable and unready nodes. */
const DEFAULT_TOLERATION_MS = 300_000;
const RETRY_MS = 5_000;
const UNREACHABLE = "node.kubernetes.io/unreachable";
const NOT_READY = "node.kubernetes.io/not-ready";

/**
 * Marks unreachable nodes, and deletes the pods that do not tolerate a `NoExecute` taint after their toleration time.
 *
 * After the grace period an unreachable node's Ready condition becomes `Unknown`, the node is tainted `unreachable`,
 * and its pods are no longer Ready. The API server adds no default tolerations to pods: this controller assumes them.
 *
 * Upstream: pkg/controller/nodelifecycle, pkg/controller/tainteviction. Omits zones and their eviction rates, the
 * `not-ready` taint of a node that reports itself unready, and leases.
 */
export class NodeLifecycleController implements Runnable {
  readonly name = "node-lifecycle-controller";
  readonly #shell: ControllerShell;
  readonly #client: Client;
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #unreachableNodes: UnreachableNodes;
  readonly #nodes: SharedInformer<Node>;
  readonly #pods: SharedInformer<Pod>;
  readonly #graceTimers = new Map<string, Timer>();
  /** Scheduled evictions by pod UID. */
  readonly #evictions = new Map<string, { readonly atMs: number; readonly timer: Timer }>();
  readonly #retries = new Set<Timer>();
  readonly #inFlight = new Set<Promise<unknown>>();
  #signal: AbortSignal | undefined;

  constructor({ unreachableNodes, ...deps }: NodeLifecycleOptions) {
    const shell = new ControllerShell(deps, { name: this.name, component: "taint-eviction-controller" });
    this.#shell = shell;
    this.#client = shell.client;
    this.#clock = shell.clock;
    this.#logger = shell.logger;
    this.#unreachableNodes = unreachableNodes;
    this.#nodes = shell.informer(nodes);
    this.#pods = shell.informer(pods);
    shell.addWork({ description: "requests in flight", run: (signal) => this.#work(signal) });
    this.#nodes.addEventHandler({
      onAdd: (node) => this.#nodeChanged(node),
      onUpdate: (_old, node) => this.#nodeChanged(node),
    });
    this.#pods.addEventHandler({
      onAdd: (pod) => this.#podChanged(pod),
      onUpdate: (_old, pod) => this.#podChanged(pod),
      onDelete: (deleted) => this.#cancelEviction(deletedObject(deleted)?.metadata.uid ?? ""),
    });
  }

  run(signal: AbortSignal): Promise<void> {
    return this.#shell.run(signal);
  }

  async #work(signal: AbortSignal): Promise<void> {
    this.#signal = signal;
    const stopListening = this.#unreachableNodes.listen((name, silent) => this.#reachabilityChanged(name, silent));
    for (const name of this.#unreachableNodes.names) this.#reachabilityChanged(name, true);
    if (!signal.aborted) await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
    stopListening();
    for (const timer of [...this.#graceTimers.values(), ...this.#retries]) timer.cancel();
    for (const { timer } of this.#evictions.values()) timer.cancel();
    await Promise.all(this.#inFlight);
  }

  #reachabilityChanged(name: string, unreachable: boolean): void {
    this.#graceTimers.get(name)?.cancel();
    this.#graceTimers.delete(name);
    if (unreachable)
      this.#graceTimers.set(
        name,
        this.#clock.setTimer(GRACE_PERIOD_MS, () => this.#retryUntilDone(() => this.#markUnreachable(name))),
      );
  }

  async #markUnreachable(name: string): Promise<void> {
    const node = this.#nodes.store.get(objectKey({ name }));
    if (node === undefined || !this.#unreachableNodes.names.has(name)) return;
    const now = formatTime(this.#clock.now());
    const unknown = {
      type: "Ready",
      status: "Unknown",
      reason: "NodeStatusUnknown",
      message: "Kubelet stopped posting node status.",
      lastTransitionTime: now,
    };
    await this.#patchNode(node, "strategic", { status: { conditions: [unknown] } }, "status");
    const others = (node.spec?.taints ?? []).filter(({ key }) => key !== UNREACHABLE);
    const taints = [
      ...others,
      ...["NoSchedule", "NoExecute"].map((effect) => ({ key: UNREACHABLE, effect, timeAdded: now })),
    ];
    await this.#patchNode(node, "merge", { spec: { taints } });
    for (const pod of this.#podsOn(name)) {
      if (!isConditionTrue(pod.status?.conditions, "Ready")) continue;
      await this.#patchCondition(pod, { type: "Ready", status: "False", lastTransitionTime: now });
    }
  }

  #isBack({ metadata: { name = "" }, spec, status }: DeepReadonly<Node>): boolean {
    return (
      isConditionTrue(status?.conditions, "Ready") &&
      (spec?.taints ?? []).some(({ key }) => key === UNREACHABLE) &&
      !this.#unreachableNodes.names.has(name)
    );
  }

  async #markReachable(name: string): Promise<void> {
    const node = this.#nodes.store.get(objectKey({ name }));
    if (node === undefined || !this.#isBack(node)) return;
    const taints = (node.spec?.taints ?? []).filter(({ key }) => key !== UNREACHABLE);
    await this.#patchNode(node, "merge", { spec: { taints } });
  }

  #nodeChanged(node: DeepReadonly<Node>): void {
    const { name = "" } = node.metadata;
    const taints = node.spec?.taints ?? [];
    if (this.#isBack(node)) this.#retryUntilDone(() => this.#markReachable(name));
    if (this.#evictions.size === 0 && !taints.some(isNoExecute)) return;
    for (const pod of this.#podsOn(name)) this.#scheduleEviction(pod, taints.filter(isNoExecute));
  }

  #podChanged(pod: DeepReadonly<Pod>): void {
    const node = this.#nodes.store.get(objectKey({ name: pod.spec?.nodeName ?? "" }));
    const taints = (node?.spec?.taints ?? []).filter(isNoExecute);
    if (taints.length > 0 || this.#evictions.has(pod.metadata.uid ?? "")) this.#scheduleEviction(pod, taints);
  }

  #scheduleEviction(pod: DeepReadonly<Pod>, taints: readonly DeepReadonly<Taint>[]): void {
    const { uid = "", deletionTimestamp } = pod.metadata;
    const toleratedMs = taints.length === 0 ? Infinity : tolerationMs(pod, taints);
    if (deletionTimestamp !== undefined || isPodTerminal(pod) || toleratedMs === Infinity)
      return this.#cancelEviction(uid);
    const known = this.#evictions.get(uid);
    const atMs = this.#clock.monotonic() + toleratedMs;
    // An earlier eviction stays, because the taint is not new.
    if (known !== undefined && known.atMs <= atMs) return;
    known?.timer.cancel();
    const timer = this.#clock.setTimer(toleratedMs, () => {
      this.#evictions.delete(uid);
      this.#retryUntilDone(() => this.#evict(pod));
    });
    this.#evictions.set(uid, { atMs, timer });
  }

  #cancelEviction(uid: string): void {
    this.#evictions.get(uid)?.timer.cancel();
    this.#evictions.delete(uid);
  }

  async #evict(pod: DeepReadonly<Pod>): Promise<void> {
    const { name = "", namespace = "", uid = "" } = pod.metadata;
    this.#shell.events.event(
      pod,
      pods,
      "Normal",
      "TaintManagerEviction",
      `Marking for deletion Pod ${namespace}/${name}`,
    );
    await this.#patchCondition(pod, {
      type: "DisruptionTarget",
      status: "True",
      reason: "DeletionByTaintManager",
      message: "Taint manager: deleting due to NoExecute taint",
      lastTransitionTime: formatTime(this.#clock.now()),
    });
    await this.#client.resource(pods).delete(name, { namespace, preconditions: { uid }, ...this.#requestOptions() });
  }

  /** The UID refuses a patch for a node that was recreated since. The retry reads the cache again. */
  async #patchNode(
    { metadata: { name = "", uid = "" } }: DeepReadonly<Node>,
    type: "merge" | "strategic",
    change: object,
    subresource?: "status",
  ): Promise<void> {
    await this.#client
      .resource(nodes)
      .patch(
        name,
        { type, body: { metadata: { uid }, ...change } },
        { ...(subresource === undefined ? {} : { subresource }), ...this.#requestOptions() },
      );
  }

  async #patchCondition({ metadata }: DeepReadonly<Pod>, condition: object): Promise<void> {
    const { name = "", namespace, uid = "" } = metadata;
    const body = { metadata: { uid }, status: { conditions: [condition] } };
    await this.#client
      .resource(pods)
      .patch(name, { type: "strategic", body }, { namespace, subresource: "status", ...this.#requestOptions() });
  }

  #podsOn(nodeName: string): DeepReadonly<Pod>[] {
    return this.#pods.store.list().filter((pod) => pod.spec?.nodeName === nodeName);
  }

  #requestOptions(): { signal?: AbortSignal } {
    return this.#signal === undefined ? {} : { signal: this.#signal };
  }

  /** Retries an action until it succeeds or its object is gone. */
  #retryUntilDone(action: () => Promise<unknown>): void {
    if (this.#signal?.aborted === true) return;
    const done = action().catch((error: unknown) => {
      if (isNotFound(error) || this.#signal?.aborted === true) return;
      this.#logger.warn({ err: errorMessage(error) }, "Node lifecycle: retrying");
      const timer = this.#clock.setTimer(RETRY_MS, () => {
        this.#retries.delete(timer);
        this.#retryUntilDone(action);
      });
      this.#retries.add(timer);
    });
    this.#inFlight.add(done);
    void done.finally(() => this.#inFlight.delete(done));
  }
}

function isNoExecute({ effect }: DeepReadonly<Taint>): boolean {
  return effect === "NoExecute";
}

/** Returns how long the pod may stay under all of these taints, in milliseconds. */
function tolerationMs(pod: DeepReadonly<Pod>, taints: readonly DeepReadonly<Taint>[]): number {
  let shortest = Infinity;
  for (const taint of taints) {
    const matching = (pod.spec?.tolerations ?? []).filter((toleration) => tolerates(toleration, taint));
    const defaultMs = taint.key === UNREACHABLE || taint.key === NOT_READY ? DEFAULT_TOLERATION_MS : 0;
    const tolerationMs =
      matching.length === 0
        ? defaultMs
        : Math.min(...matching.map(({ tolerationSeconds }) => Math.max(0, (tolerationSeconds ?? Infinity) * 1000)));
    shortest = Math.min(shortest, tolerationMs);
  }
  return shortest;
}
