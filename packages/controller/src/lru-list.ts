/** What an entry of a {@link LruList} has: its neighbours, kept by the list. */
export interface LruEntry<T> {
  older: T | undefined;
  newer: T | undefined;
}

/** The order in which entries were used, of the last `capacity` of them. */
export class LruList<T extends LruEntry<T>> {
  readonly #capacity: number;
  #size = 0;
  #oldest: T | undefined;
  #newest: T | undefined;

  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  /** Answers the entry that was used longest ago, if it had to go. */
  add(entry: T): T | undefined {
    this.#append(entry);
    if (++this.#size <= this.#capacity) return undefined;
    this.#size--;
    const oldest = this.#oldest!;
    this.#unlink(oldest);
    return oldest;
  }

  /** Makes it the one that was used last. */
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
