import type { ObjectRecord } from "../trace.js";

type PodRecord = Extract<ObjectRecord, { kind: "Pod" }>;

/** Which pods have ended and are still there: those that PodGC counts (upstream: podgc `isPodTerminated`). */
export class EndedPods {
  readonly #uids = new Set<string>();

  /** @returns by how much their number changes. */
  add({ uid, change, state: { phase } }: PodRecord): -1 | 0 | 1 {
    if (change === "DELETED") return this.#uids.delete(uid) ? -1 : 0;
    if (phase === "Pending" || phase === "Running" || phase === "Unknown" || this.#uids.has(uid)) return 0;
    this.#uids.add(uid);
    return 1;
  }
}
