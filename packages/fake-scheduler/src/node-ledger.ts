import { type DeepReadonly, type Node, isConditionTrue } from "@kubewright/api";

import { type Taint, matchesNode, untoleratedTaint } from "./placement.js";
import { type Amounts, type PodRequests, parseAmounts } from "./resources.js";

interface Account {
  readonly name: string;
  /** Absent for a node that pods name but that does not exist. */
  allocatable: Amounts | undefined;
  ready: boolean;
  unschedulable: boolean;
  labels: Readonly<Record<string, string>> | undefined;
  taints: readonly DeepReadonly<Taint>[];
  pods: number;
  readonly used: Map<string, number>;
}

interface Charge {
  readonly account: Account;
  readonly requests: PodRequests;
}

/**
 * What every node offers and how much of it is taken: running totals, so that placing a pod never looks at others.
 *
 * A pod is known by its UID and charged to at most one node. Charging a node before it exists is fine.
 */
export class NodeLedger {
  readonly #accounts = new Map<string, Account>();
  /** Existing nodes, by name. */
  readonly #nodes: Account[] = [];
  readonly #charges = new Map<string, Charge>();

  get size(): number {
    return this.#nodes.length;
  }

  setNode(node: DeepReadonly<Node>): void {
    const account = this.#account(node.metadata.name ?? "");
    if (account.allocatable === undefined) this.#nodes.splice(this.#position(account.name), 0, account);
    account.allocatable = parseAmounts(node.status?.allocatable);
    account.ready = isConditionTrue(node.status?.conditions, "Ready");
    account.unschedulable = node.spec?.unschedulable === true;
    account.labels = node.metadata.labels;
    account.taints = node.spec?.taints ?? [];
  }

  removeNode(name: string): void {
    const account = this.#accounts.get(name);
    if (account?.allocatable === undefined) return;
    account.allocatable = undefined;
    this.#nodes.splice(this.#position(name), 1);
    this.#forgetIfEmpty(account);
  }

  /** The node a pod is charged to. */
  nodeOf(uid: string): string | undefined {
    return this.#charges.get(uid)?.account.name;
  }

  /** @throws Error when the pod is charged to a node already: release it first. */
  charge(uid: string, nodeName: string, requests: PodRequests): void {
    if (this.#charges.has(uid)) throw new Error(`pod ${uid} is charged to node ${this.nodeOf(uid)} already`);
    const account = this.#account(nodeName);
    account.pods++;
    for (const [resource, amount] of requests.amounts)
      account.used.set(resource, (account.used.get(resource) ?? 0) + amount);
    this.#charges.set(uid, { account, requests });
  }

  /** Ends the pod's charge, and answers with the node that has more room now. */
  release(uid: string): string | undefined {
    const charge = this.#charges.get(uid);
    if (charge === undefined) return undefined;
    const { account, requests } = charge;
    this.#charges.delete(uid);
    account.pods--;
    for (const [resource, amount] of requests.amounts)
      account.used.set(resource, (account.used.get(resource) ?? 0) - amount);
    this.#forgetIfEmpty(account);
    return account.name;
  }

  /** The first node by name that the pod fits on. */
  firstFit(requests: PodRequests): string | undefined {
    return this.#nodes.find((account) => fits(account, requests))?.name;
  }

  fits(nodeName: string, requests: PodRequests): boolean {
    const account = this.#accounts.get(nodeName);
    return account !== undefined && fits(account, requests);
  }

  /** Why the pod fits nowhere, in the scheduler's words: `0/2 nodes are available: 1 Insufficient cpu, 1 Too many pods.` */
  explain(requests: PodRequests): string {
    if (this.#nodes.length === 0) return "no nodes available to schedule pods";
    const counts = new Map<string, number>();
    for (const account of this.#nodes)
      for (const reason of obstacles(account, requests)) counts.set(reason, (counts.get(reason) ?? 0) + 1);
    const reasons = [...counts].map(([reason, count]) => `${count} ${reason}`).sort();
    return `0/${this.#nodes.length} nodes are available: ${reasons.join(", ")}.`;
  }

  #account(name: string): Account {
    let account = this.#accounts.get(name);
    if (account === undefined) {
      account = {
        name,
        allocatable: undefined,
        ready: false,
        unschedulable: false,
        labels: undefined,
        taints: [],
        pods: 0,
        used: new Map(),
      };
      this.#accounts.set(name, account);
    }
    return account;
  }

  #forgetIfEmpty(account: Account): void {
    if (account.allocatable === undefined && account.pods === 0) this.#accounts.delete(account.name);
  }

  /** Where a node of this name stands, or belongs, among the existing ones. */
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

function fits(account: Account, requests: PodRequests): boolean {
  const { allocatable } = account;
  if (allocatable === undefined || !account.ready || account.unschedulable) return false;
  if (account.pods >= (allocatable.get("pods") ?? 0)) return false;
  if (!matchesNode(requests.placement, account.name, account.labels)) return false;
  if (account.taints.length > 0 && untoleratedTaint(requests.placement, account.taints) !== undefined) return false;
  for (const [resource, amount] of requests.amounts) if (lacks(account, allocatable, resource, amount)) return false;
  return true;
}

function obstacles(account: Account, requests: PodRequests): string[] {
  if (!account.ready) return ["node(s) were not ready"];
  if (account.unschedulable) return ["node(s) were unschedulable"];
  const taint = untoleratedTaint(requests.placement, account.taints);
  if (taint !== undefined) return [`node(s) had untolerated taint {${taint.key}: ${taint.value ?? ""}}`];
  if (!matchesNode(requests.placement, account.name, account.labels))
    return ["node(s) didn't match Pod's node affinity/selector"];
  const allocatable = account.allocatable ?? new Map<string, number>();
  const reasons: string[] = [];
  if (account.pods >= (allocatable.get("pods") ?? 0)) reasons.push("Too many pods");
  for (const [resource, amount] of requests.amounts)
    if (lacks(account, allocatable, resource, amount)) reasons.push(`Insufficient ${resource}`);
  return reasons;
}

/** Who asks for nothing is not held back by a node that gave away too much. */
function lacks(account: Account, allocatable: Amounts, resource: string, amount: number): boolean {
  return amount > 0 && (account.used.get(resource) ?? 0) + amount > (allocatable.get(resource) ?? 0);
}
