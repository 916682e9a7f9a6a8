import { type KubernetesObject, mutableCopy } from "@kubewright/api";

import { Change } from "./change.js";
import { ChangeLog } from "./change-log.js";
import { type Interest, ListenerIndex } from "./listener-index.js";
import { sizeOf } from "./object-size.js";
import type { Store } from "./store.js";
import { StoredObject } from "./stored-object.js";

/** Told of every change of a resource, in order, in the same step as the write. */
export interface ChangeListener {
  /** Set when only such changes matter to it: it need not be told of others. */
  readonly interest?: Interest | undefined;
  onChange(change: Change): void;
  /** The resource is no longer served. */
  close?(): void;
}

/** The objects of one resource: by namespace and name, in order, with their recent history and whoever follows them. */
export class ResourceStorage {
  readonly #store: Store;
  readonly #key: string;
  readonly #namespaces = new Map<string, Bucket>();
  readonly #listeners = new ListenerIndex();
  readonly log: ChangeLog;
  #namespacesInOrder: string[] | undefined;
  #size = 0;

  /** @param key - What the store calls it. */
  constructor(store: Store, key: string) {
    this.#store = store;
    this.#key = key;
    this.log = new ChangeLog(store.historyLimits, store.historyBudget, store.resourceVersion);
  }

  get size(): number {
    return this.#size;
  }

  get(namespace: string, name: string): StoredObject | undefined {
    return this.#namespaces.get(namespace)?.objects.get(name);
  }

  /**
   * Puts a new version of an object into the store and tells its followers. Takes the object over: it gets its
   * resourceVersion here, and the caller may not touch it again.
   *
   * @param size - Bytes of what it does not share with the version before, roughly. Default: all of it, counted.
   */
  write(object: KubernetesObject, size: number = sizeOf(object), hasUnstoredDefaults = false): StoredObject {
    const { namespace = "", name = "" } = object.metadata;
    const resourceVersion = this.#store.nextResourceVersion();
    object.metadata.resourceVersion = String(resourceVersion);
    this.#store.seal(object);
    const stored = new StoredObject(object, resourceVersion, size, hasUnstoredDefaults);
    let bucket = this.#namespaces.get(namespace);
    if (bucket === undefined) {
      this.#namespaces.set(namespace, (bucket = new Bucket()));
      this.#namespacesInOrder = undefined;
    }
    const previous = bucket.objects.get(name);
    bucket.set(name, stored);
    if (previous === undefined) this.#resize(this.#size + 1);
    else this.#store.backlog.replace(previous);
    this.#announce(new Change(resourceVersion, previous, stored));
    return stored;
  }

  /** Takes over objects that were stored before, with the versions they had. Nobody is told. */
  load(objects: readonly KubernetesObject[]): void {
    for (const loaded of objects) {
      const object: KubernetesObject = mutableCopy(loaded);
      this.#store.seal(object);
      const { namespace = "", name = "", resourceVersion } = object.metadata;
      let bucket = this.#namespaces.get(namespace);
      if (bucket === undefined) this.#namespaces.set(namespace, (bucket = new Bucket()));
      bucket.set(name, new StoredObject(object, Number(resourceVersion), sizeOf(object)));
      this.#resize(this.#size + 1);
    }
    this.#namespacesInOrder = undefined;
  }

  /** Removes an object and tells its followers. Answers its last state, with the deletion's resourceVersion. */
  remove(stored: StoredObject): StoredObject {
    const bucket = this.#namespaces.get(stored.namespace);
    bucket?.delete(stored.name);
    if (bucket !== undefined && bucket.objects.size === 0) {
      this.#namespaces.delete(stored.namespace);
      this.#namespacesInOrder = undefined;
    }
    this.#resize(this.#size - 1);
    this.#store.backlog.replace(stored);
    const change = new Change(this.#store.nextResourceVersion(), stored, undefined);
    this.#announce(change);
    return change.last;
  }

  /** All objects, or those of one namespace, in the order of their keys. Shared: do not change the array. */
  list(namespace?: string): readonly StoredObject[] {
    if (namespace !== undefined) return this.#namespaces.get(namespace)?.inOrder() ?? [];
    const order = (this.#namespacesInOrder ??= [...this.#namespaces.keys()].sort((a, b) =>
      compareKeys(`${a}/`, `${b}/`),
    ));
    if (order.length === 1) return this.#namespaces.get(order[0]!)!.inOrder();
    return order.flatMap((name) => this.#namespaces.get(name)!.inOrder() as StoredObject[]);
  }

  /** The same as it was at an earlier resourceVersion, worked out backwards from the changes since. */
  listAt(resourceVersion: number, namespace?: string): readonly StoredObject[] {
    const current = this.list(namespace);
    const undone = new Map<string, StoredObject | undefined>();
    for (const change of this.log.newestFirst(resourceVersion)) {
      const { subject } = change;
      if (namespace === undefined || subject.namespace === namespace) undone.set(storageKey(subject), change.previous);
    }
    if (undone.size === 0) return current;
    const objects = current.filter((stored) => !undone.has(storageKey(stored)));
    for (const previous of undone.values()) if (previous !== undefined) objects.push(previous);
    return objects.sort((a, b) => compareKeys(storageKey(a), storageKey(b)));
  }

  follow(listener: ChangeListener): void {
    this.#listeners.add(listener);
  }

  unfollow(listener: ChangeListener): void {
    this.#listeners.delete(listener);
  }

  /** Ends everybody who follows: the resource is gone for good. */
  endFollowers(): void {
    for (const listener of this.#listeners.all()) listener.close?.();
    this.#listeners.clear();
  }

  #resize(size: number): void {
    if (size === 0 || this.#size === 0) this.#store.noteOccupancy();
    this.#size = size;
  }

  #announce(change: Change): void {
    this.log.append(change, this.#store.nowMs());
    this.#store.noteChange(this.#key, change);
    this.#listeners.notify(change);
    this.#store.noteWrite();
  }
}

class Bucket {
  readonly objects = new Map<string, StoredObject>();
  #order: StoredObject[] | undefined;

  set(name: string, stored: StoredObject): void {
    this.objects.set(name, stored);
    this.#order = undefined;
  }

  delete(name: string): void {
    this.objects.delete(name);
    this.#order = undefined;
  }

  inOrder(): readonly StoredObject[] {
    return (this.#order ??= [...this.objects.values()].sort((a, b) => compareKeys(a.name, b.name)));
  }
}

/** `namespace/name`, or just `name`: what lists are ordered by. */
export function storageKey({ namespace, name }: Pick<StoredObject, "namespace" | "name">): string {
  return namespace === "" ? name : `${namespace}/${name}`;
}

function compareKeys(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
