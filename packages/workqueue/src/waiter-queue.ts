/** So many places at the front may be empty before the others move up. */
const MAX_EMPTY_SLOTS = 32;

/**
 * Who waits, in order. Taking the first does not move all others, as `shift` of an array does: each of the twenty workers
 * of a queue would be moved for each item.
 */
export class WaiterQueue<T> {
  readonly #slots: (T | undefined)[] = [];
  #first = 0;

  get size(): number {
    return this.#slots.length - this.#first;
  }

  push(waiter: T): void {
    this.#slots.push(waiter);
  }

  /** Only when somebody waits. */
  shift(): T {
    const waiter = this.#slots[this.#first]!;
    this.#slots[this.#first++] = undefined;
    if (this.#first === this.#slots.length || this.#first > MAX_EMPTY_SLOTS) this.#compact();
    return waiter;
  }

  /** Ignored for who does not wait. */
  remove(waiter: T): void {
    const index = this.#slots.indexOf(waiter);
    if (index >= 0) this.#slots.splice(index, 1);
  }

  #compact(): void {
    if (this.#first === this.#slots.length) this.#slots.length = 0;
    else this.#slots.splice(0, this.#first);
    this.#first = 0;
  }
}
