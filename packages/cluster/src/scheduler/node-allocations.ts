import { type DeepReadonly, type Node, isConditionTrue } from "@kubewright/api";

import { type Taint, matchesNode, untoleratedTaint } from "./placement.js";
import { type Amounts, type PodRequests, parseAmounts } from "./resources.js";

interface NodeState {
  readonly name: string;
  /** Allocatable resources. Absent for a node that pods name but that does not exist. */
  allocatable: Amounts | undefined;
  ready: boolean;
  unschedulable: boolean;
  labels: Readonly<Record<string, string>> | undefined;
  taints: readonly DeepReadonly<Taint>[];
  pods: number;
  readonly used: Map<string, number>;
}

interface Reservation {
  readonly state: NodeState;
  readonly requests: PodRequests;
}

/**
 * Allocatable and reserved resources of every node, as running totals: placing a pod never looks at other pods.
 *
 * A pod is identified by its UID and reserved on at most one node. The node need not exist yet.
 */
export class NodeAllocations {
  readonly #states = new Map<string, NodeState>();
  /** Existing nodes, by name. */
  readonly #nodes: NodeState[] = [];
  readonly #reservations = new Map<string, Reservation>();

  get size(): number {
    return this.#nodes.length;
  }

  setNode(node: DeepReadonly<Node>): void {
    const state = this.#stateOf(node.metadata.name ?? "");
    if (state.allocatable === undefined) this.#nodes.splice(this.#position(state.name), 0, state);
    state.allocatable = parseAmounts(node.status?.allocatable);
    state.ready = isConditionTrue(node.status?.conditions, "Ready");
    state.unschedulable = node.spec?.unschedulable === true;
    state.labels = node.metadata.labels;
    state.taints = node.spec?.taints ?? [];
  }

  removeNode(name: string): void {
    const state = this.#states.get(name);
    if (state?.allocatable === undefined) return;
    state.allocatable = undefined;
    this.#nodes.splice(this.#position(name), 1);
    this.#deleteIfUnused(state);
  }

  /** Returns the node on which a pod is reserved. */
  nodeOf(uid: string): string | undefined {
    return this.#reservations.get(uid)?.state.name;
  }

  /**
   * Reserves a pod's requests on a node.
   *
   * @throws Error when the pod is reserved already: release it first.
   */
  reserve(uid: string, nodeName: string, requests: PodRequests): void {
    if (this.#reservations.has(uid)) throw new Error(`pod ${uid} is reserved on node ${this.nodeOf(uid)} already`);
    const state = this.#stateOf(nodeName);
    state.pods++;
    for (const [resource, amount] of requests.amounts)
      state.used.set(resource, (state.used.get(resource) ?? 0) + amount);
    this.#reservations.set(uid, { state, requests });
  }

  /** Ends the pod's reservation and returns the node that has more room now. */
  release(uid: string): string | undefined {
    const reservation = this.#reservations.get(uid);
    if (reservation === undefined) return undefined;
    const { state, requests } = reservation;
    this.#reservations.delete(uid);
    state.pods--;
    for (const [resource, amount] of requests.amounts)
      state.used.set(resource, (state.used.get(resource) ?? 0) - amount);
    this.#deleteIfUnused(state);
    return state.name;
  }

  /** Returns the first node by name on which the pod fits. */
  firstFit(requests: PodRequests): string | undefined {
    return this.#nodes.find((state) => fits(state, requests))?.name;
  }

  fits(nodeName: string, requests: PodRequests): boolean {
    const state = this.#states.get(nodeName);
    return state !== undefined && fits(state, requests);
  }

  /**
   * Explains why the pod fits nowhere, as kube-scheduler words it: `0/2 nodes are available: 1 Insufficient cpu, 1 Too
   * many pods.`
   */
  explain(requests: PodRequests): string {
    if (this.#nodes.length === 0) return "no nodes available to schedule pods";
    const counts = new Map<string, number>();
    for (const state of this.#nodes)
      for (const reason of reasonsNotToFit(state, requests)) counts.set(reason, (counts.get(reason) ?? 0) + 1);
    const reasons = [...counts].map(([reason, count]) => `${count} ${reason}`).sort();
    return `0/${this.#nodes.length} nodes are available: ${reasons.join(", ")}.`;
  }

  #stateOf(name: string): NodeState {
    let state = this.#states.get(name);
    if (state === undefined) {
      state = {
        name,
        allocatable: undefined,
        ready: false,
        unschedulable: false,
        labels: undefined,
        taints: [],
        pods: 0,
        used: new Map(),
      };
      this.#states.set(name, state);
    }
    return state;
  }

  #deleteIfUnused(state: NodeState): void {
    if (state.allocatable === undefined && state.pods === 0) this.#states.delete(state.name);
  }

  /** Returns the index of the node of this name among the existing nodes, or the index at which to insert it. */
  #position(name: string): number {
    let low = 0;
    let high = this.#nodes.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.#nodes[middle]!.name < name) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

function fits(state: NodeState, requests: PodRequests): boolean {
  const { allocatable } = state;
  if (allocatable === undefined || !state.ready || state.unschedulable) return false;
  if (state.pods >= (allocatable.get("pods") ?? 0)) return false;
  if (!matchesNode(requests.placement, state.name, state.labels)) return false;
  if (state.taints.length > 0 && untoleratedTaint(requests.placement, state.taints) !== undefined) return false;
  for (const [resource, amount] of requests.amounts) if (lacks(state, allocatable, resource, amount)) return false;
  return true;
}

function reasonsNotToFit(state: NodeState, requests: PodRequests): string[] {
  if (!state.ready) return ["node(s) were not ready"];
  if (state.unschedulable) return ["node(s) were unschedulable"];
  const taint = untoleratedTaint(requests.placement, state.taints);
  if (taint !== undefined) return [`node(s) had untolerated taint {${taint.key}: ${taint.value ?? ""}}`];
  if (!matchesNode(requests.placement, state.name, state.labels))
    return ["node(s) didn't match Pod's node affinity/selector"];
  const allocatable = state.allocatable ?? new Map<string, number>();
  const reasons: string[] = [];
  if (state.pods >= (allocatable.get("pods") ?? 0)) reasons.push("Too many pods");
  for (const [resource, amount] of requests.amounts)
    if (lacks(state, allocatable, resource, amount)) reasons.push(`Insufficient ${resource}`);
  return reasons;
}

/** A pod that requests none of a resource fits even on an overcommitted node. */
function lacks(state: NodeState, allocatable: Amounts, resource: string, amount: number): boolean {
  return amount > 0 && (state.used.get(resource) ?? 0) + amount > (allocatable.get(resource) ?? 0);
}
