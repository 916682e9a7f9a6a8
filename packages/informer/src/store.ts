import type { DeepReadonly, KubernetesObject, ObjectKey } from "@kubewright/api";

import { type Indexers, namespaceIndex } from "./indexers.js";
import type { Lister } from "./lister.js";
import { keyOfObject, metadataOf, resourceVersionOf } from "./object-metadata.js";
import { type IndexValues, type StoreEntry, StoreIndex, objectsOf, sameValues } from "./store-index.js";

/** What replacing the content of a store changed. */
export interface Replacement<T extends KubernetesObject> {
  /** What was there and is no more, in the store's old order. */
  readonly vanished: readonly { readonly key: ObjectKey; readonly object: DeepReadonly<T> }[];
  /** What is there now, each with what was there before under its key; in the order given. */
  readonly present: readonly { readonly old: DeepReadonly<T> | undefined; readonly object: DeepReadonly<T> }[];
}

/**
 * Objects by key, with indexes. Keeps references: what goes in is what comes out.
 *
 * Index functions are called once per object; a change that throws in one of them changes nothing. An index itself is made
 * when it is first asked.
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

  /** Every value an index has objects for. @throws Error when there is no such index. */
  indexValues(indexName: Index): string[] {
    return this.#index(indexName).values();
  }

  /**
   * Adds indexes, and fills them with what is there. A function that already serves under its name is passed over, so
   * that controllers sharing a cache may each ask for what they need (upstream: they look first).
   *
   * @throws Error `indexer conflict: <names>` when a name is taken by another function; nothing is added then.
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

  /** Adds or replaces. Returns what was there before. */
  add(object: DeepReadonly<T>): DeepReadonly<T> | undefined {
    return this.#put(object);
  }

  /** Replaces or adds. Returns what was there before. */
  update(object: DeepReadonly<T>): DeepReadonly<T> | undefined {
    return this.#put(object);
  }

  /** Removes what has this object's key. Returns what was there. */
  delete(object: DeepReadonly<T>): DeepReadonly<T> | undefined {
    const entry = this.#entries.get(keyOfObject(object));
    this.#resourceVersion = resourceVersionOf(object);
    if (entry === undefined) return undefined;
    this.#entries.delete(entry.key);
    for (let position = 0; position < entry.values.length; position++)
      this.#indexes[position]!.remove(entry, entry.values[position]!);
    return entry.object;
  }

  /** Exchanges the whole content in one step. Of several objects with one key the last counts. */
  replace(objects: Iterable<DeepReadonly<T>>, resourceVersion: string): Replacement<T> {
    const before = this.#entries;
    const after = new Map<ObjectKey, StoreEntry<T>>();
    for (const object of objects) {
      const key = keyOfObject(object);
      const old = before.get(key);
      // What did not change was indexed before.
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

  /** Nothing changed up to this version. */
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

  /** The values of what an entry is to hold; `undefined` when they are those it has, as after most changes. */
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
