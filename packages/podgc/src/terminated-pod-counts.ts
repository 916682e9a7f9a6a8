import type { PodGCController } from "./pod-gc-controller.js";

/** In the Lease of a replica. */
const ANNOTATION = "kubewright.dev/terminated-pods";

/**
 * How many pods have ended, counted by each replica for its buckets of namespaces, and told to the others by its Lease: what a
 * `TerminatedPodCollector` goes by.
 */
export class TerminatedPodCounts {
  readonly #controllers = new Map<number, Pick<PodGCController, "terminatedPods">>();
  readonly #annotationsOfOthers: () => readonly Readonly<Record<string, string>>[];

  constructor(annotationsOfOthers: () => readonly Readonly<Record<string, string>>[]) {
    this.#annotationsOfOthers = annotationsOfOthers;
  }

  /** Counts what a controller has, until the signal aborts. */
  add(bucket: number, controller: Pick<PodGCController, "terminatedPods">, signal: AbortSignal): void {
    this.#controllers.set(bucket, controller);
    const remove = (): void => {
      if (this.#controllers.get(bucket) === controller) this.#controllers.delete(bucket);
    };
    signal.addEventListener("abort", remove, { once: true });
  }

  /** What this replica tells of itself. */
  annotations(): Readonly<Record<string, string>> {
    return { [ANNOTATION]: String(this.#ownTotal()) };
  }

  /** Without the buckets that are on their way from one replica to another. */
  clusterTotal(): number {
    const others = this.#annotationsOfOthers().map((annotations) => Number(annotations[ANNOTATION] ?? 0) || 0);
    return others.reduce((sum, count) => sum + count, this.#ownTotal());
  }

  #ownTotal(): number {
    let sum = 0;
    for (const { terminatedPods } of this.#controllers.values()) sum += terminatedPods;
    return sum;
  }
}
