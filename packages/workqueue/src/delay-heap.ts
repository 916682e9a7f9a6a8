/** An item waiting until `readyAtMs`. */
export interface DelayedItem<T> {
  readonly item: T;
  readyAtMs: number;
  /** Breaks ties: equal times come out in the order they were asked for. */
  sequence: number;
  /** Position in the heap, kept by {@link DelayHeap}. */
  index: number;
}

/** A binary min-heap by time, then sequence, whose elements may be brought forward in O(log n). */
export class DelayHeap<T> {
  readonly #items: DelayedItem<T>[] = [];

  peek(): DelayedItem<T> | undefined {
    return this.#items[0];
  }

  push(delayed: DelayedItem<T>): void {
    this.#items.push(delayed);
    this.#up(delayed, this.#items.length - 1);
  }

  /** To be called after an element's time was made earlier. */
  broughtForward(delayed: DelayedItem<T>): void {
    this.#up(delayed, delayed.index);
  }

  pop(): DelayedItem<T> | undefined {
    const first = this.#items[0];
    const last = this.#items.pop();
    if (last !== undefined && last !== first) this.#down(last);
    return first;
  }

  clear(): void {
    this.#items.length = 0;
  }

  #up(delayed: DelayedItem<T>, from: number): void {
    const items = this.#items;
    let index = from;
    while (index > 0) {
      const parentIndex = (index - 1) >> 1;
      const parent = items[parentIndex]!;
      if (!before(delayed, parent)) break;
      items[index] = parent;
      parent.index = index;
      index = parentIndex;
    }
    items[index] = delayed;
    delayed.index = index;
  }

  /** Puts `delayed` where the root was, and lets it sink to its place. */
  #down(delayed: DelayedItem<T>): void {
    const items = this.#items;
    let index = 0;
    for (let childIndex = 1; childIndex < items.length; childIndex = 2 * index + 1) {
      const right = items[childIndex + 1];
      if (right !== undefined && before(right, items[childIndex]!)) childIndex++;
      const child = items[childIndex]!;
      if (!before(child, delayed)) break;
      items[index] = child;
      child.index = index;
      index = childIndex;
    }
    items[index] = delayed;
    delayed.index = index;
  }
}

function before<T>(a: DelayedItem<T>, b: DelayedItem<T>): boolean {
  return a.readyAtMs < b.readyAtMs || (a.readyAtMs === b.readyAtMs && a.sequence < b.sequence);
}
