/**
 * Names of nodes that were found missing, each until it has been missing long enough for its pods to be given up.
 *
 * A name taken out may be put in again at once, while its pods linger: it then waits anew.
 *
 * @see kubernetes v1.36 pkg/controller/podgc/gc_controller.go nodeQueue, discoverDeletedNodes
 */
export class NodeQuarantine {
  readonly #periodMs: number;
  /** Monotonic due times by name, earliest first: all wait equally long. */
  readonly #dueMs = new Map<string, number>();

  constructor(periodMs: number) {
    this.#periodMs = periodMs;
  }

  get isEmpty(): boolean {
    return this.#dueMs.size === 0;
  }

  /** Begins the waiting of those that do not wait yet. */
  add(names: Iterable<string>, nowMs: number): void {
    for (const name of names) if (!this.#dueMs.has(name)) this.#dueMs.set(name, nowMs + this.#periodMs);
  }

  /** Takes out those that have waited long enough. */
  takeDue(nowMs: number): string[] {
    const due: string[] = [];
    for (const [name, dueMs] of this.#dueMs) {
      if (dueMs > nowMs) break;
      due.push(name);
    }
    for (const name of due) this.#dueMs.delete(name);
    return due;
  }
}
