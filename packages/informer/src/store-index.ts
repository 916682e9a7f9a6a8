import type { DeepReadonly, KubernetesObject, ObjectKey } from "@kubewright/api";

import type { IndexFunction } from "./indexers.js";

/**
 * The values that an index function returned for one object. A single value, the most frequent case, is stored as a
 * string, which takes less memory than an array.
 */
export type IndexValues = string | readonly string[];

/** An object in a store, with its index values. */
export interface StoreEntry<T extends KubernetesObject> {
  readonly key: ObjectKey;
  object: DeepReadonly<T>;
  /** The values for each index, in the order in which the indexes were added. */
  values: readonly IndexValues[];
}

/**
 * The entries of one index value: a single entry without a container (in many indexes nearly all are single), a few in
 * an array, many in a Set.
 */
type Bucket<T extends KubernetesObject> = StoreEntry<T> | StoreEntry<T>[] | Set<StoreEntry<T>>;

/** Up to this size, searching an array is as fast as a Set, which allocates when entries are added and removed. */
const MAX_ARRAY_ENTRIES = 8;

/**
 * One index: entries by value. Stores no values without entries, and nothing at all before {@link activate}. An index
 * that is never queried therefore costs only the calculation of its values.
 */
export class StoreIndex<T extends KubernetesObject> {
  #buckets: Map<string, Bucket<T>> | undefined;

  constructor(
    readonly name: string,
    readonly valuesOf: IndexFunction<T>,
  ) {}

  /** Whether entries are stored. */
  get isActive(): boolean {
    return this.#buckets !== undefined;
  }

  /** Starts to store entries. The caller has to add the existing ones. */
  activate(): void {
    this.#buckets = new Map();
  }

  /**
   * Returns the index values of an object. @throws Error that names the object and the index when the index function
   * throws.
   */
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
    const buckets = this.#buckets;
    if (buckets === undefined) return;
    if (typeof values === "string") addTo(buckets, values, entry);
    else for (const value of values) addTo(buckets, value, entry);
  }

  remove(entry: StoreEntry<T>, values: IndexValues): void {
    const buckets = this.#buckets;
    if (buckets === undefined) return;
    if (typeof values === "string") removeFrom(buckets, values, entry);
    else for (const value of values) removeFrom(buckets, value, entry);
  }

  /** Moves an entry from its old values to its new ones. Values in both stay unchanged. */
  move(entry: StoreEntry<T>, oldValues: IndexValues, newValues: IndexValues): void {
    const buckets = this.#buckets;
    if (buckets === undefined) return;
    if (sameValues(oldValues, newValues)) return;
    if (typeof oldValues === "string" && typeof newValues === "string") {
      removeFrom(buckets, oldValues, entry);
      addTo(buckets, newValues, entry);
      return;
    }
    const retained = new Set(typeof newValues === "string" ? [newValues] : newValues);
    for (const value of typeof oldValues === "string" ? [oldValues] : oldValues) {
      if (!retained.has(value)) removeFrom(buckets, value, entry);
    }
    this.add(entry, newValues);
  }

  clear(): void {
    this.#buckets?.clear();
  }

  lookUp(value: string): DeepReadonly<T>[] {
    const bucket = this.#buckets?.get(value);
    if (bucket === undefined) return [];
    return Array.isArray(bucket) || bucket instanceof Set ? objectsOf(bucket) : [bucket.object];
  }

  values(): string[] {
    return [...(this.#buckets?.keys() ?? [])];
  }
}

/** Whether two results are certainly equal: the same string, or no values. False for equal non-empty arrays. */
export function sameValues(a: IndexValues, b: IndexValues): boolean {
  return a === b || (a.length === 0 && b.length === 0 && typeof a === typeof b);
}

export function objectsOf<T extends KubernetesObject>(entries: Iterable<StoreEntry<T>>): DeepReadonly<T>[] {
  const objects: DeepReadonly<T>[] = [];
  for (const entry of entries) objects.push(entry.object);
  return objects;
}

function addTo<T extends KubernetesObject>(buckets: Map<string, Bucket<T>>, value: string, entry: StoreEntry<T>): void {
  const bucket = buckets.get(value);
  if (bucket === undefined) buckets.set(value, entry);
  else if (bucket instanceof Set) bucket.add(entry);
  else if (!Array.isArray(bucket)) {
    if (bucket !== entry) buckets.set(value, [bucket, entry]);
  } else if (!bucket.includes(entry)) {
    bucket.push(entry);
    if (bucket.length > MAX_ARRAY_ENTRIES) buckets.set(value, new Set(bucket));
  }
}

function removeFrom<T extends KubernetesObject>(
  buckets: Map<string, Bucket<T>>,
  value: string,
  entry: StoreEntry<T>,
): void {
  const bucket = buckets.get(value);
  if (bucket instanceof Set) {
    if (bucket.delete(entry) && bucket.size === 0) buckets.delete(value);
  } else if (Array.isArray(bucket)) {
    const position = bucket.indexOf(entry);
    if (position < 0) return;
    bucket.splice(position, 1);
    if (bucket.length === 0) buckets.delete(value);
  } else if (bucket === entry) buckets.delete(value);
}
