/** Links of an entry of a {@link LruList}, maintained by the list. */
export interface LruEntry<T> {
  older: T | undefined;
  newer: T | undefined;
}

/** Keeps the `capacity` most recently used entries in order of use. */
export class LruList<T extends LruEntry<T>> {
  readonly #capacity: number;
  #size = 0;
  #oldest: T | undefined;
  #newest: T | undefined;

  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  /** Adds an entry. Returns the least recently used entry if it was evicted. */
  add(entry: T): T | undefined {
    this.#append(entry);
    if (++this.#size <= this.#capacity) return undefined;
    this.#size--;
    const oldest = this.#oldest!;
    this.#unlink(oldest);
    return oldest;
  }

  /** Marks an entry as the most recently used. */
  use(entry: T): void {
    if (entry === this.#newest) return;
    this.#unlink(entry);
    this.#append(entry);
  }

  #append(entry: T): void {
    entry.older = this.#newest;
    entry.newer = undefined;
    if (this.#newest === undefined) this.#oldest = entry;
    else this.#newest.newer = entry;
    this.#newest = entry;
  }

  #unlink({ older, newer }: T): void {
    if (older === undefined) this.#oldest = newer;
    else older.newer = newer;
    if (newer === undefined) this.#newest = older;
    else newer.older = older;
  }
}
