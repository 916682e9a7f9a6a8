/** An item of the heap with its sort keys. */
export interface RankedItem<T> {
  readonly item: T;
  /** Primary sort key, lowest first: a time, or a negated priority. */
  rank: number;
  /** Breaks ties: equal ranks come out in the order they were added. */
  sequence: number;
  /** Position in the heap, maintained by {@link ItemHeap}. */
  index: number;
}

/** A binary min-heap by rank, then sequence. Moving an element forward and removing one are O(log n). */
export class ItemHeap<T> {
  readonly #items: RankedItem<T>[] = [];

  peek(): RankedItem<T> | undefined {
    return this.#items[0];
  }

  push(ranked: RankedItem<T>): void {
    this.#items.push(ranked);
    this.#siftUp(ranked, this.#items.length - 1);
  }

  /** Restores the order after an element's rank was lowered. */
  moveForward(ranked: RankedItem<T>): void {
    this.#siftUp(ranked, ranked.index);
  }

  pop(): RankedItem<T> | undefined {
    const first = this.#items[0];
    const last = this.#items.pop();
    if (last !== undefined && last !== first) this.#siftDown(last, 0);
    return first;
  }

  /** Removes an element. It must be in the heap. */
  remove(ranked: RankedItem<T>): void {
    const last = this.#items.pop()!;
    if (last === ranked) return;
    const { index } = ranked;
    this.#siftDown(last, index);
    if (last.index === index) this.#siftUp(last, index);
  }

  clear(): void {
    this.#items.length = 0;
  }

  #siftUp(ranked: RankedItem<T>, from: number): void {
    const items = this.#items;
    let index = from;
    while (index > 0) {
      const parentIndex = (index - 1) >> 1;
      const parent = items[parentIndex]!;
      if (!before(ranked, parent)) break;
      items[index] = parent;
      parent.index = index;
      index = parentIndex;
    }
    items[index] = ranked;
    ranked.index = index;
  }

  /** Puts `ranked` into a free position and sifts it down. */
  #siftDown(ranked: RankedItem<T>, from: number): void {
    const items = this.#items;
    let index = from;
    for (let childIndex = 2 * index + 1; childIndex < items.length; childIndex = 2 * index + 1) {
      const right = items[childIndex + 1];
      if (right !== undefined && before(right, items[childIndex]!)) childIndex++;
      const child = items[childIndex]!;
      if (!before(child, ranked)) break;
      items[index] = child;
      child.index = index;
      index = childIndex;
    }
    items[index] = ranked;
    ranked.index = index;
  }
}

function before<T>(a: RankedItem<T>, b: RankedItem<T>): boolean {
  return a.rank < b.rank || (a.rank === b.rank && a.sequence < b.sequence);
}
