import { type KubernetesObject, deepFreeze } from "@kubewright/api";
import type { Clock } from "@kubewright/clock";

import { MAX_NESTING, isNestedDeeper } from "../nesting.js";
import { Backlog } from "./backlog.js";
import type { Change } from "./change.js";
import type { HistoryLimits } from "./change-log.js";
import { HistoryBudget } from "./history-budget.js";
import { ResourceStorage } from "./resource-storage.js";

/** Not 0, so that lists and watches of a new server can name a version before the first write. */
const START_VERSION = 100;

/** All stored objects as JSON data. A new server can continue from it. */
export interface StoreSnapshot {
  readonly resourceVersion: string;
  /** By group and resource: `batch/jobs`, `/pods`. */
  readonly objects: Readonly<Record<string, readonly KubernetesObject[]>>;
}

/** A server cannot start with the snapshot. */
export class SnapshotError extends Error {
  override readonly name = "SnapshotError";
}

/**
 * Receives every change of every resource, in order, synchronously with the write.
 *
 * @param key - Group and resource.
 */
export type StoreFollower = (key: string, change: Change) => void;

/** All stored objects: one resourceVersion counter for all resources, and one storage per resource. */
export class Store {
  readonly historyLimits: HistoryLimits;
  readonly historyBudget: HistoryBudget;
  readonly backlog: Backlog;
  readonly #clock: Clock;
  readonly #freeze: boolean;
  readonly #storages = new Map<string, ResourceStorage>();
  readonly #writeListeners = new Set<() => void>();
  readonly #followers = new Set<StoreFollower>();
  #resourceVersion = START_VERSION;
  #occupancy = 0;

  /** @throws SnapshotError when the snapshot's resourceVersion is no number, or an object is nested too deeply. */
  constructor(options: {
    clock: Clock;
    freeze: boolean;
    historyLimits: HistoryLimits;
    /** Byte limit of the history of all resources. */
    historyBytes: number;
    /** Byte limit of objects retained for slow readers. */
    backlogBytes: number;
    restore?: StoreSnapshot | undefined;
  }) {
    this.#clock = options.clock;
    this.#freeze = options.freeze;
    this.historyLimits = options.historyLimits;
    this.historyBudget = new HistoryBudget(options.historyBytes);
    this.backlog = new Backlog(options.backlogBytes);
    if (options.restore === undefined) return;
    const { resourceVersion, objects } = options.restore;
    if (!/^\d+$/.test(resourceVersion))
      throw new SnapshotError(`the snapshot's resourceVersion ${JSON.stringify(resourceVersion)} is no number`);
    this.#resourceVersion = Math.max(START_VERSION, Number(resourceVersion));
    for (const [key, list] of Object.entries(objects)) {
      const deep = list.find((object) => isNestedDeeper(object));
      if (deep !== undefined)
        throw new SnapshotError(`${key} ${deep.metadata.name} is nested more than ${MAX_NESTING} levels deep`);
      this.storage(key).load(list);
    }
  }

  /** resourceVersion of the latest write to any resource. */
  get resourceVersion(): number {
    return this.#resourceVersion;
  }

  nextResourceVersion(): number {
    return ++this.#resourceVersion;
  }

  /**
   * Increases whenever a resource gets its first object or loses its last one. Caches that depend only on this use it
   * for invalidation.
   */
  get occupancy(): number {
    return this.#occupancy;
  }

  noteOccupancy(): void {
    this.#occupancy++;
  }

  nowMs(): number {
    return this.#clock.now();
  }

  /** @param key - Group and resource: versions of one resource share their objects. */
  storage(key: string): ResourceStorage {
    let storage = this.#storages.get(key);
    if (storage === undefined) this.#storages.set(key, (storage = new ResourceStorage(this, key)));
    return storage;
  }

  drop(key: string): void {
    const storage = this.#storages.get(key);
    if (storage !== undefined) this.historyBudget.leave(storage.log);
    this.#storages.delete(key);
  }

  /** Forgets history: watches and lists at the version or before then get 410. Default: up to the latest write. */
  compact(resourceVersion = this.#resourceVersion): void {
    for (const storage of this.#storages.values()) storage.log.compact(resourceVersion);
  }

  snapshot(): StoreSnapshot {
    const objects: Record<string, readonly KubernetesObject[]> = {};
    for (const [key, storage] of this.#storages)
      if (storage.size > 0) objects[key] = storage.list().map((stored) => stored.object);
    return { resourceVersion: String(this.#resourceVersion), objects };
  }

  seal(object: object): void {
    if (this.#freeze) deepFreeze(object);
  }

  /** Calls back after every write to any resource. Returns a function that removes the listener. */
  onWrite(listener: () => void): () => void {
    this.#writeListeners.add(listener);
    return () => this.#writeListeners.delete(listener);
  }

  /** Returns a function that removes the follower. */
  follow(follower: StoreFollower): () => void {
    this.#followers.add(follower);
    return () => this.#followers.delete(follower);
  }

  /**
   * Notifies the store's followers before the resource's listeners, so that writes of these listeners follow in order.
   */
  noteChange(key: string, change: Change): void {
    for (const follower of this.#followers) follower(key, change);
  }

  noteWrite(): void {
    for (const listener of this.#writeListeners) listener();
  }
}
