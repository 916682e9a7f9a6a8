import { type KubernetesObject, mutableCopy } from "@kubewright/api";

import { Change } from "./change.js";
import { ChangeLog } from "./change-log.js";
import { type Interest, ListenerIndex } from "./listener-index.js";
import { sizeOf } from "./object-size.js";
import type { Store } from "./store.js";
import { StoredObject } from "./stored-object.js";

/** Receives every change of a resource, in order, synchronously with the write. */
export interface ChangeListener {
  /** Set when only such changes are relevant: the listener need not receive others. */
  readonly interest?: Interest | undefined;
  /** User agent of the client that receives the changes. Absent for listeners of the server itself. */
  readonly userAgent?: string | undefined;
  onChange(change: Change): void;
  /** Whether a client receives the changes of the object. Absent for listeners of the server itself. */
  observes?(stored: StoredObject): boolean;
  /** Called when the resource is no longer served. */
  close?(): void;
}

/** Is called before objects of a resource are read or followed, and may write them first. */
export interface AccessListener {
  /** @param namespace - `undefined` for all namespaces. @param name - `undefined` for all objects. */
  beforeRead(namespace: string | undefined, name: string | undefined): void;
  /** Called after the listener was added. */
  onFollow(listener: ChangeListener): void;
}

/** The objects of one resource by namespace and name, with their recent history and listeners. */
export class ResourceStorage {
  readonly #store: Store;
  readonly #key: string;
  readonly #namespaces = new Map<string, Bucket>();
  readonly #listeners = new ListenerIndex();
  readonly log: ChangeLog;
  #namespacesInOrder: string[] | undefined;
  #size = 0;
  accessListener: AccessListener | undefined;

  /** @param key - Key of the resource in the store. */
  constructor(store: Store, key: string) {
    this.#store = store;
    this.#key = key;
    this.log = new ChangeLog(store.historyLimits, store.historyBudget, store.resourceVersion);
  }

  get size(): number {
    return this.#size;
  }

  get(namespace: string, name: string): StoredObject | undefined {
    this.accessListener?.beforeRead(namespace, name);
    return this.stored(namespace, name);
  }

  /** Returns the object without notifying the {@link accessListener}. */
  stored(namespace: string, name: string): StoredObject | undefined {
    return this.#namespaces.get(namespace)?.objects.get(name);
  }

  /**
   * Stores a new version of an object and notifies the listeners. Sets the object's resourceVersion. The caller must
   * not use the object afterwards.
   *
   * @param size - Approximate bytes that the object does not share with the previous version. Default: the size of the
   * whole object.
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

  /** Stores objects of a snapshot with their resourceVersions. Notifies no listener. */
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

  /** Removes an object and notifies the listeners. Returns its last state, with the deletion's resourceVersion. */
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

  /** Returns all objects, or those of one namespace, sorted by key. Shared: do not change the array. */
  list(namespace?: string): readonly StoredObject[] {
    this.accessListener?.beforeRead(namespace, undefined);
    if (namespace !== undefined) return this.#namespaces.get(namespace)?.inOrder() ?? [];
    const order = (this.#namespacesInOrder ??= [...this.#namespaces.keys()].sort((a, b) =>
      compareKeys(`${a}/`, `${b}/`),
    ));
    if (order.length === 1) return this.#namespaces.get(order[0]!)!.inOrder();
    return order.flatMap((name) => this.#namespaces.get(name)!.inOrder() as StoredObject[]);
  }

  /** Returns the objects at an earlier resourceVersion, by undoing later changes. */
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
    this.accessListener?.onFollow(listener);
  }

  /** Returns all listeners of changes. */
  listeners(): readonly ChangeListener[] {
    return this.#listeners.all();
  }

  unfollow(listener: ChangeListener): void {
    this.#listeners.delete(listener);
  }

  /** Closes all listeners, because the resource is no longer served. */
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

/** Returns the key that lists are sorted by: `namespace/name`, or just `name`. */
export function storageKey({ namespace, name }: Pick<StoredObject, "namespace" | "name">): string {
  return namespace === "" ? name : `${namespace}/${name}`;
}

function compareKeys(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
