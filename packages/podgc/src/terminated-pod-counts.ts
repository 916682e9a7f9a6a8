import type { PodGCController } from "./pod-gc-controller.js";

/** Annotation of a replica's Lease. */
const ANNOTATION = "kubewright.dev/terminated-pods";

/**
 * Counts the terminated pods of the cluster for a `TerminatedPodCollector`. Each replica counts the pods in its buckets
 * of namespaces, and publishes the count in its Lease.
 */
export class TerminatedPodCounts {
  readonly #controllers = new Map<number, Pick<PodGCController, "terminatedPods">>();

  /** Includes the count of a controller until the signal aborts. */
  add(bucket: number, controller: Pick<PodGCController, "terminatedPods">, signal: AbortSignal): void {
    this.#controllers.set(bucket, controller);
    const remove = (): void => {
      if (this.#controllers.get(bucket) === controller) this.#controllers.delete(bucket);
    };
    signal.addEventListener("abort", remove, { once: true });
  }

  /** Returns the annotation with this replica's count. */
  annotations(): Readonly<Record<string, string>> {
    return { [ANNOTATION]: String(this.#ownTotal()) };
  }

  /**
   * Returns the count of all replicas. Buckets that are moving between replicas are not included.
   *
   * @param ofOthers - Annotations on the Leases of the other replicas.
   */
  clusterTotal(ofOthers: readonly Readonly<Record<string, string>>[]): number {
    const others = ofOthers.map((annotations) => Number(annotations[ANNOTATION] ?? 0) || 0);
    return others.reduce((sum, count) => sum + count, this.#ownTotal());
  }

  #ownTotal(): number {
    let sum = 0;
    for (const { terminatedPods } of this.#controllers.values()) sum += terminatedPods;
    return sum;
  }
}
