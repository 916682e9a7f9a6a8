/** Number of empty slots at the front before the others move up. */
const MAX_EMPTY_SLOTS = 32;

/**
 * A FIFO queue of waiters. Taking the first does not move all others, unlike `shift` of an array: a queue with twenty
 * workers would move all of them for each item.
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

  /** Removes and returns the first waiter. The queue must not be empty. */
  shift(): T {
    const waiter = this.#slots[this.#first]!;
    this.#slots[this.#first++] = undefined;
    if (this.#first === this.#slots.length || this.#first > MAX_EMPTY_SLOTS) this.#compact();
    return waiter;
  }

  /** Removes a waiter. Has no effect if it is not in the queue. */
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
