import { type KubernetesObject, deepFreeze } from "@kubewright/api";
import type { Clock } from "@kubewright/clock";

import { MAX_NESTING, isNestedDeeper } from "../nesting.js";
import { Backlog } from "./backlog.js";
import type { Change } from "./change.js";
import type { HistoryLimits } from "./change-log.js";
import { HistoryBudget } from "./history-budget.js";
import { ResourceStorage } from "./resource-storage.js";

/** Lists and watches of a server that has just started must be able to name a version before the first. */
const START_VERSION = 100;

/** All that a server keeps, as JSON data: enough to begin again where it stopped. */
export interface StoreSnapshot {
  readonly resourceVersion: string;
  /** By group and resource, as in `batch/jobs` and `/pods`. */
  readonly objects: Readonly<Record<string, readonly KubernetesObject[]>>;
}

/** A server cannot begin with such a snapshot. */
export class SnapshotError extends Error {
  override readonly name = "SnapshotError";
}

/** Told of every change of everything, in order, in the same step as the write. @param key - Group and resource. */
export type StoreFollower = (key: string, change: Change) => void;

/** Everything the server keeps: one counter for all resources, and a storage for each. */
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

  /** @throws SnapshotError when its resourceVersion is no number, or an object is nested too deeply. */
  constructor(options: {
    clock: Clock;
    freeze: boolean;
    historyLimits: HistoryLimits;
    /** Bytes of history, over all resources. */
    historyBytes: number;
    /** Bytes kept for readers that are behind. */
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

  /** The version of the latest write anywhere. */
  get resourceVersion(): number {
    return this.#resourceVersion;
  }

  nextResourceVersion(): number {
    return ++this.#resourceVersion;
  }

  /** Grows whenever a resource gets its first object or loses its last: what depends on that alone need not be asked again. */
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

  /** Forgets history: what watched or listed at that version or before now gets 410. Default: up to the latest write. */
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

  /** Calls back after every write, whatever the resource. Answers how to stop that. */
  onWrite(listener: () => void): () => void {
    this.#writeListeners.add(listener);
    return () => this.#writeListeners.delete(listener);
  }

  /** Answers how to stop following. */
  follow(follower: StoreFollower): () => void {
    this.#followers.add(follower);
    return () => this.#followers.delete(follower);
  }

  /** Before anybody who follows one resource is told: what they write in turn comes later. */
  noteChange(key: string, change: Change): void {
    for (const follower of this.#followers) follower(key, change);
  }

  noteWrite(): void {
    for (const listener of this.#writeListeners) listener();
  }
}
