import type { ObjectRecord } from "../trace.js";

type PodRecord = Extract<ObjectRecord, { kind: "Pod" }>;

/** The most there was at any time. */
export interface Peaks {
  /** Pods that waited or ran. */
  readonly pods: number;
  /** Thousandths of a core, requested by pods on a node. */
  readonly cpuMillis: number;
}

/** Follows how many pods there are at once, and what they request. */
export class PodPeaks {
  readonly #pods = new Map<string, { readonly cpuMillis: number; bound: boolean }>();
  #cpuMillis = 0;
  #peaks: Peaks = { pods: 0, cpuMillis: 0 };

  get peaks(): Peaks {
    return this.#peaks;
  }

  add({ uid, change, state, cpuMillis = 0 }: PodRecord): void {
    const isThere = change !== "DELETED" && (state.phase === "Pending" || state.phase === "Running");
    let pod = this.#pods.get(uid);
    if (!isThere) {
      if (pod === undefined) return;
      this.#pods.delete(uid);
      if (pod.bound) this.#cpuMillis -= pod.cpuMillis;
      return;
    }
    if (pod === undefined) this.#pods.set(uid, (pod = { cpuMillis, bound: false }));
    if (!pod.bound && state.node !== undefined) {
      pod.bound = true;
      this.#cpuMillis += pod.cpuMillis;
    }
    if (this.#pods.size > this.#peaks.pods || this.#cpuMillis > this.#peaks.cpuMillis)
      this.#peaks = {
        pods: Math.max(this.#pods.size, this.#peaks.pods),
        cpuMillis: Math.max(this.#cpuMillis, this.#peaks.cpuMillis),
      };
  }
}
