import type { ObjectRecord } from "../run/trace.js";

type PodRecord = Extract<ObjectRecord, { kind: "Pod" }>;

/** Counts pods that have ended and still exist, as PodGC does (upstream: podgc `isPodTerminated`). */
export class EndedPods {
  readonly #uids = new Set<string>();

  /** @returns the change of the count. */
  add({ uid, change, state: { phase } }: PodRecord): -1 | 0 | 1 {
    if (change === "DELETED") return this.#uids.delete(uid) ? -1 : 0;
    if (phase === "Pending" || phase === "Running" || phase === "Unknown" || this.#uids.has(uid)) return 0;
    this.#uids.add(uid);
    return 1;
  }
}
