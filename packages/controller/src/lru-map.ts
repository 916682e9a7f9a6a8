interface Entry<K, V> {
  readonly key: K;
  value: V;
  older: Entry<K, V> | undefined;
  newer: Entry<K, V> | undefined;
}

/** A map that holds the `capacity` entries used last. */
export class LruMap<K, V> {
  readonly #entries = new Map<K, Entry<K, V>>();
  readonly #capacity: number;
  #oldest: Entry<K, V> | undefined;
  #newest: Entry<K, V> | undefined;

  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  /** Counts as use. */
  get(key: K): V | undefined {
    const entry = this.#entries.get(key);
    if (entry === undefined) return undefined;
    this.#use(entry);
    return entry.value;
  }

  /** Counts as use. What is not there is made. */
  getOrAdd(key: K, make: () => V): V {
    const known = this.get(key);
    if (known !== undefined) return known;
    const value = make();
    this.#add(key, value);
    return value;
  }

  set(key: K, value: V): void {
    const known = this.#entries.get(key);
    if (known === undefined) return this.#add(key, value);
    known.value = value;
    this.#use(known);
  }

  /** Removes what was used longest ago, as long as it is of no use any more. */
  dropOldest(isStale: (value: V) => boolean): void {
    while (this.#oldest !== undefined && isStale(this.#oldest.value)) this.#remove(this.#oldest);
  }

  #add(key: K, value: V): void {
    const entry: Entry<K, V> = { key, value, older: undefined, newer: undefined };
    this.#entries.set(key, entry);
    this.#append(entry);
    if (this.#entries.size > this.#capacity) this.#remove(this.#oldest!);
  }

  #remove(entry: Entry<K, V>): void {
    this.#takeOut(entry);
    this.#entries.delete(entry.key);
  }

  #use(entry: Entry<K, V>): void {
    if (entry === this.#newest) return;
    this.#takeOut(entry);
    this.#append(entry);
  }

  #append(entry: Entry<K, V>): void {
    entry.older = this.#newest;
    entry.newer = undefined;
    if (this.#newest === undefined) this.#oldest = entry;
    else this.#newest.newer = entry;
    this.#newest = entry;
  }

  #takeOut({ older, newer }: Entry<K, V>): void {
    if (older === undefined) this.#oldest = newer;
    else older.newer = newer;
    if (newer === undefined) this.#newest = older;
    else newer.older = older;
  }
}
