import type { DeepReadonly, KubernetesObject, ObjectKey } from "@kubewright/api";

import { type Indexers, namespaceIndex } from "./indexers.js";
import type { Lister } from "./lister.js";
import { keyOfObject, metadataOf, resourceVersionOf } from "./object-metadata.js";
import { type IndexValues, type StoreEntry, StoreIndex, objectsOf, sameValues } from "./store-index.js";

/** The changes of a {@link Store.replace}. */
export interface Replacement<T extends KubernetesObject> {
  /** Objects that were removed, in the store's old order. */
  readonly vanished: readonly { readonly key: ObjectKey; readonly object: DeepReadonly<T> }[];
  /** The current objects in the given order, each with the previous object of its key. */
  readonly present: readonly { readonly old: DeepReadonly<T> | undefined; readonly object: DeepReadonly<T> }[];
}

/**
 * Objects by key, with indexes. Stores references, not copies.
 *
 * Index functions are called once per object. If an index function throws, the change has no effect. An index is built
 * when it is first queried.
 *
 * @see kubernetes v1.36 client-go tools/cache/thread_safe_store.go
 */
export class Store<T extends KubernetesObject, Index extends string = string> implements Lister<T, Index> {
  #entries = new Map<ObjectKey, StoreEntry<T>>();
  readonly #indexes: StoreIndex<T>[] = [];
  readonly #indexByName = new Map<string, StoreIndex<T>>();
  #resourceVersion = "";

  constructor({ indexers }: { readonly indexers?: Indexers<T, Index> } = {}) {
    if (indexers !== undefined) this.addIndexers(indexers);
  }

  /**
   * The resourceVersion of the last change: of the object added, updated or deleted (as of its deletion), of the list,
   * or of the bookmark. `""` at first.
   */
  get lastStoreSyncResourceVersion(): string {
    return this.#resourceVersion;
  }

  get size(): number {
    return this.#entries.size;
  }

  get(key: ObjectKey): DeepReadonly<T> | undefined {
    return this.#entries.get(key)?.object;
  }

  list(): DeepReadonly<T>[] {
    return objectsOf(this.#entries.values());
  }

  listNamespace(namespace: string): DeepReadonly<T>[] {
    if (namespace === "") return this.list();
    if (this.#indexByName.has(namespaceIndex)) return this.#index(namespaceIndex).lookUp(namespace);
    return this.list().filter((object) => metadataOf(object).namespace === namespace);
  }

  byIndex(indexName: Index, value: string): DeepReadonly<T>[] {
    return this.#index(indexName).lookUp(value);
  }

  /** Returns every value of an index that has objects. @throws Error if the index does not exist. */
  indexValues(indexName: Index): string[] {
    return this.#index(indexName).values();
  }

  /**
   * Adds indexes for all current and future objects. Skips a name that already has the same function, so that
   * controllers sharing a cache can each request the indexes they need (upstream controllers check first).
   *
   * @throws Error `indexer conflict: <names>` when a name has another function; no index is added then.
   */
  addIndexers(indexers: Indexers<T>): void {
    const added = Object.entries(indexers).filter(
      ([name, valuesOf]) => this.#indexByName.get(name)?.valuesOf !== valuesOf,
    );
    const conflicts = added.map(([name]) => name).filter((name) => this.#indexByName.has(name));
    if (conflicts.length > 0) throw new Error(`indexer conflict: ${conflicts.join(", ")}`);
    for (const [name, valuesOf] of added) {
      const index = new StoreIndex(name, valuesOf);
      const computed = Array.from(
        this.#entries.values(),
        (entry) => [entry, index.compute(entry.key, entry.object)] as const,
      );
      for (const [entry, values] of computed) entry.values = [...entry.values, values];
      this.#indexes.push(index);
      this.#indexByName.set(name, index);
    }
  }

  /** Adds or replaces an object. Returns the previous one. */
  add(object: DeepReadonly<T>): DeepReadonly<T> | undefined {
    return this.#put(object);
  }

  /** Replaces or adds an object. Returns the previous one. */
  update(object: DeepReadonly<T>): DeepReadonly<T> | undefined {
    return this.#put(object);
  }

  /** Deletes the object with this object's key. Returns the deleted one. */
  delete(object: DeepReadonly<T>): DeepReadonly<T> | undefined {
    const entry = this.#entries.get(keyOfObject(object));
    this.#resourceVersion = resourceVersionOf(object);
    if (entry === undefined) return undefined;
    this.#entries.delete(entry.key);
    for (let position = 0; position < entry.values.length; position++)
      this.#indexes[position]!.remove(entry, entry.values[position]!);
    return entry.object;
  }

  /** Replaces the whole content in one step. Of several objects with one key, the last one wins. */
  replace(objects: Iterable<DeepReadonly<T>>, resourceVersion: string): Replacement<T> {
    const before = this.#entries;
    const after = new Map<ObjectKey, StoreEntry<T>>();
    for (const object of objects) {
      const key = keyOfObject(object);
      const old = before.get(key);
      // An unchanged object keeps its index values.
      const values = old?.object === object ? old.values : this.#valuesOf(key, object);
      after.set(key, { key, object, values });
    }
    this.#entries = after;
    this.#resourceVersion = resourceVersion;
    for (const index of this.#indexes) index.clear();
    const present: { old: DeepReadonly<T> | undefined; object: DeepReadonly<T> }[] = [];
    for (const entry of after.values()) {
      this.#indexes.forEach((index, position) => index.add(entry, entry.values[position]!));
      present.push({ old: before.get(entry.key)?.object, object: entry.object });
    }
    const vanished: { key: ObjectKey; object: DeepReadonly<T> }[] = [];
    for (const { key, object } of before.values()) if (!after.has(key)) vanished.push({ key, object });
    return { vanished, present };
  }

  /** Records that nothing changed up to this version. */
  bookmark(resourceVersion: string): void {
    this.#resourceVersion = resourceVersion;
  }

  #put(object: DeepReadonly<T>): DeepReadonly<T> | undefined {
    const key = keyOfObject(object);
    const entry = this.#entries.get(key);
    if (entry === undefined) {
      const added: StoreEntry<T> = { key, object, values: this.#valuesOf(key, object) };
      this.#resourceVersion = resourceVersionOf(object);
      this.#entries.set(key, added);
      for (let position = 0; position < added.values.length; position++)
        this.#indexes[position]!.add(added, added.values[position]!);
      return undefined;
    }
    const values = this.#changedValuesOf(entry, object);
    this.#resourceVersion = resourceVersionOf(object);
    const old = entry.object;
    entry.object = object;
    if (values === undefined) return old;
    for (let position = 0; position < values.length; position++) {
      this.#indexes[position]!.move(entry, entry.values[position]!, values[position]!);
    }
    entry.values = values;
    return old;
  }

  #valuesOf(key: ObjectKey, object: DeepReadonly<T>): readonly IndexValues[] {
    return this.#indexes.map((index) => index.compute(key, object));
  }

  /** Returns the index values of an entry's new object; `undefined` if they are unchanged, as after most changes. */
  #changedValuesOf({ key, values }: StoreEntry<T>, object: DeepReadonly<T>): readonly IndexValues[] | undefined {
    let changed: IndexValues[] | undefined;
    for (let position = 0; position < values.length; position++) {
      const next = this.#indexes[position]!.compute(key, object);
      const previous = values[position]!;
      if (sameValues(next, previous)) continue;
      changed ??= [...values];
      changed[position] = next;
    }
    return changed;
  }

  #index(name: string): StoreIndex<T> {
    const index = this.#indexByName.get(name);
    if (index === undefined) throw new Error(`Index with name ${name} does not exist`);
    if (!index.isActive) {
      const position = this.#indexes.indexOf(index);
      index.activate();
      for (const entry of this.#entries.values()) index.add(entry, entry.values[position]!);
    }
    return index;
  }
}
