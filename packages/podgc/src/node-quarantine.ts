/**
 * Names of missing nodes. Each name stays until the node has been missing long enough to collect its pods.
 *
 * A due name can be added again immediately while its pods still exist. Its quarantine then starts again.
 *
 * @see kubernetes v1.36 pkg/controller/podgc/gc_controller.go nodeQueue, discoverDeletedNodes
 */
export class NodeQuarantine {
  readonly #periodMs: number;
  /** Monotonic due times by name, earliest first, because all quarantines are equally long. */
  readonly #dueMs = new Map<string, number>();

  constructor(periodMs: number) {
    this.#periodMs = periodMs;
  }

  get isEmpty(): boolean {
    return this.#dueMs.size === 0;
  }

  /** Starts the quarantine of new names. */
  add(names: Iterable<string>, nowMs: number): void {
    for (const name of names) if (!this.#dueMs.has(name)) this.#dueMs.set(name, nowMs + this.#periodMs);
  }

  /** Removes and returns the names whose quarantine has ended. */
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
