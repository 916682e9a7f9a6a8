import type { DeepReadonly, KubernetesObject, ObjectKey } from "@kubewright/api";

import type { IndexFunction } from "./indexers.js";

/** What an index function gave for one object. Most give one value, and a string takes less room than an array of one. */
export type IndexValues = string | readonly string[];

/** An object in a store, with what was computed from it. */
export interface StoreEntry<T extends KubernetesObject> {
  readonly key: ObjectKey;
  object: DeepReadonly<T>;
  /** The values for each index, in the order in which the indexes were added. */
  values: readonly IndexValues[];
}

/** The entries of one value: a lone one as it is, since in many indexes nearly all are alone. */
type Bucket<T extends KubernetesObject> = StoreEntry<T> | Set<StoreEntry<T>>;

/** One index: entries by value. Values without entries are not kept. */
export class StoreIndex<T extends KubernetesObject> {
  readonly #buckets = new Map<string, Bucket<T>>();

  constructor(
    readonly name: string,
    readonly valuesOf: IndexFunction<T>,
  ) {}

  /** @throws Error that names the object and the index when the index function throws. */
  compute(key: ObjectKey, object: DeepReadonly<T>): IndexValues {
    try {
      const values = this.valuesOf(object);
      return values.length === 1 ? values[0]! : values;
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      throw new Error(`unable to calculate an index entry for key "${key}" on index "${this.name}": ${message}`, {
        cause: error,
      });
    }
  }

  add(entry: StoreEntry<T>, values: IndexValues): void {
    if (typeof values === "string") this.#addTo(values, entry);
    else for (const value of values) this.#addTo(value, entry);
  }

  remove(entry: StoreEntry<T>, values: IndexValues): void {
    if (typeof values === "string") this.#removeFrom(values, entry);
    else for (const value of values) this.#removeFrom(value, entry);
  }

  /** Moves an entry from its old values to its new ones; what is in both is left alone. */
  move(entry: StoreEntry<T>, oldValues: IndexValues, newValues: IndexValues): void {
    if (oldValues === newValues || (oldValues.length === 0 && newValues.length === 0)) return;
    if (typeof oldValues === "string" && typeof newValues === "string") {
      this.#removeFrom(oldValues, entry);
      this.#addTo(newValues, entry);
      return;
    }
    const kept = new Set(typeof newValues === "string" ? [newValues] : newValues);
    for (const value of typeof oldValues === "string" ? [oldValues] : oldValues) {
      if (!kept.has(value)) this.#removeFrom(value, entry);
    }
    this.add(entry, newValues);
  }

  clear(): void {
    this.#buckets.clear();
  }

  lookUp(value: string): DeepReadonly<T>[] {
    const bucket = this.#buckets.get(value);
    if (bucket === undefined) return [];
    return bucket instanceof Set ? Array.from(bucket, (entry) => entry.object) : [bucket.object];
  }

  values(): string[] {
    return [...this.#buckets.keys()];
  }

  #addTo(value: string, entry: StoreEntry<T>): void {
    const bucket = this.#buckets.get(value);
    if (bucket === undefined) this.#buckets.set(value, entry);
    else if (bucket instanceof Set) bucket.add(entry);
    else if (bucket !== entry) this.#buckets.set(value, new Set([bucket, entry]));
  }

  #removeFrom(value: string, entry: StoreEntry<T>): void {
    const bucket = this.#buckets.get(value);
    if (bucket === entry) this.#buckets.delete(value);
    else if (bucket instanceof Set && bucket.delete(entry) && bucket.size === 0) this.#buckets.delete(value);
  }
}
