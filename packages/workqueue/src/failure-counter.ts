/** Number of failures per item. */
export class FailureCounter<T> {
  readonly #failures = new Map<T, number>();

  /** Counts one failure, and returns the previous number. */
  count(item: T): number {
    const before = this.get(item);
    this.#failures.set(item, before + 1);
    return before;
  }

  get(item: T): number {
    return this.#failures.get(item) ?? 0;
  }

  forget(item: T): void {
    if (this.#failures.size > 0) this.#failures.delete(item);
  }
}
