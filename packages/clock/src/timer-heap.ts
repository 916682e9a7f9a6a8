/** A timer waiting on a simulated clock. */
export interface HeapTimer {
  readonly dueMs: number;
  /** Breaks ties. Equal for all timers, unless an order other than that of creation is wanted. */
  readonly rank: number;
  /** Order of creation. Breaks the remaining ties, so that equal due times fire in the order of creation. */
  readonly sequence: number;
  /** Position in the heap; -1 when not in it. Maintained by {@link TimerHeap}. */
  index: number;
}

/** A binary min-heap by due time, then by rank, then by order of creation. Removal from the middle is O(log n). */
export class TimerHeap<T extends HeapTimer> {
  readonly #items: T[] = [];

  get size(): number {
    return this.#items.length;
  }

  peek(): T | undefined {
    return this.#items[0];
  }

  push(timer: T): void {
    timer.index = this.#items.length;
    this.#items.push(timer);
    this.#siftUp(timer.index);
  }

  remove(timer: T): void {
    const { index } = timer;
    if (index < 0) return;
    timer.index = -1;
    const last = this.#items.pop()!;
    if (last === timer) return;
    this.#place(last, index);
    this.#siftUp(index);
    this.#siftDown(last.index);
  }

  #siftUp(start: number): void {
    let index = start;
    while (index > 0) {
      const parent = (index - 1) >> 1;
      if (!before(this.#items[index]!, this.#items[parent]!)) return;
      this.#swap(index, parent);
      index = parent;
    }
  }

  #siftDown(start: number): void {
    let index = start;
    for (;;) {
      const left = 2 * index + 1;
      const right = left + 1;
      let first = index;
      if (left < this.#items.length && before(this.#items[left]!, this.#items[first]!)) first = left;
      if (right < this.#items.length && before(this.#items[right]!, this.#items[first]!)) first = right;
      if (first === index) return;
      this.#swap(index, first);
      index = first;
    }
  }

  #swap(a: number, b: number): void {
    const timer = this.#items[a]!;
    this.#place(this.#items[b]!, a);
    this.#place(timer, b);
  }

  #place(timer: T, index: number): void {
    this.#items[index] = timer;
    timer.index = index;
  }
}

function before(a: HeapTimer, b: HeapTimer): boolean {
  if (a.dueMs !== b.dueMs) return a.dueMs < b.dueMs;
  return a.rank < b.rank || (a.rank === b.rank && a.sequence < b.sequence);
}
