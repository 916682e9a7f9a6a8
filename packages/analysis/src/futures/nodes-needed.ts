import type { ObjectRecord, TraceRecord } from "../run/trace.js";
import type { NodeSize } from "./node-size.js";

/** Number of nodes of a size that all concurrent pods need. Plain data. */
export interface NodesNeeded {
  readonly nodes: number;
  /** Maximum number of concurrent pods that request more than such a node has. */
  readonly tooLarge: number;
}

interface PodSize {
  readonly cpuMillis: number;
  readonly memoryBytes: number;
  /** Waiting or running pods of that size. */
  count: number;
}

/**
 * Tracks how many nodes of one size are needed for all waiting and running pods.
 *
 * Packs all pods again whenever a pod is added: the largest pods first, each on the first node with room for it. Other
 * scheduler inputs (selectors, taints, affinity) are ignored.
 */
export class NodesNeededFollower {
  readonly #size: NodeSize;
  /** By requested resources. */
  readonly #sizes = new Map<string, PodSize>();
  readonly #pods = new Map<string, PodSize>();
  /** Usage of all pods, in nodes: the sum of the shares of cores, memory and pod count. */
  #usedNodes = 0;
  #tooLarge = 0;
  #max = { nodes: 0, tooLarge: 0 };

  constructor(size: NodeSize) {
    this.#size = size;
  }

  get needed(): NodesNeeded {
    return this.#max;
  }

  add(record: TraceRecord): void {
    if (record.type !== "object" || record.kind !== "Pod") return;
    const { uid, change, state } = record;
    const isActive = change !== "DELETED" && (state.phase === "Pending" || state.phase === "Running");
    const known = this.#pods.get(uid);
    if (isActive && known === undefined) this.#addPod(record);
    if (isActive || known === undefined) return;
    this.#pods.delete(uid);
    this.#count(known, -1);
  }

  #addPod({ uid, cpuMillis = 0, memoryBytes = 0 }: Extract<ObjectRecord, { kind: "Pod" }>): void {
    const key = `${cpuMillis} ${memoryBytes}`;
    let size = this.#sizes.get(key);
    if (size === undefined) this.#sizes.set(key, (size = { cpuMillis, memoryBytes, count: 0 }));
    this.#pods.set(uid, size);
    this.#count(size, 1);
    // Any two nodes together use more than one node's worth of cores, memory or pods. Otherwise the first node would
    // have room for the pods of the second. So n nodes use more than n/2 nodes' worth, and with lower usage the maximum
    // cannot rise.
    if (2 * this.#usedNodes + 1 > this.#max.nodes) this.#max.nodes = Math.max(this.#max.nodes, this.#pack());
  }

  #count(size: PodSize, by: 1 | -1): void {
    size.count += by;
    if (this.#isTooLarge(size)) {
      this.#tooLarge += by;
      this.#max.tooLarge = Math.max(this.#max.tooLarge, this.#tooLarge);
    } else
      this.#usedNodes +=
        by * (size.cpuMillis / this.#size.cpuMillis + size.memoryBytes / this.#size.memoryBytes + 1 / this.#size.pods);
  }

  #isTooLarge({ cpuMillis, memoryBytes }: PodSize): boolean {
    return cpuMillis > this.#size.cpuMillis || memoryBytes > this.#size.memoryBytes;
  }

  /** First-fit decreasing. */
  #pack(): number {
    const largest = (pod: PodSize): number =>
      Math.max(pod.cpuMillis / this.#size.cpuMillis, pod.memoryBytes / this.#size.memoryBytes);
    const sizes = [...this.#sizes.values()]
      .filter((pod) => pod.count > 0 && !this.#isTooLarge(pod))
      .sort((a, b) => largest(b) - largest(a) || b.cpuMillis - a.cpuMillis || b.memoryBytes - a.memoryBytes);
    const nodes: { cpuMillis: number; memoryBytes: number; pods: number }[] = [];
    for (const { cpuMillis, memoryBytes, count } of sizes) {
      let left = count;
      for (let index = 0; left > 0; index++) {
        const node = (nodes[index] ??= { ...this.#size });
        const fitting = Math.min(
          left,
          node.pods,
          cpuMillis === 0 ? Infinity : Math.floor(node.cpuMillis / cpuMillis),
          memoryBytes === 0 ? Infinity : Math.floor(node.memoryBytes / memoryBytes),
        );
        node.pods -= fitting;
        node.cpuMillis -= fitting * cpuMillis;
        node.memoryBytes -= fitting * memoryBytes;
        left -= fitting;
      }
    }
    return nodes.length;
  }
}
