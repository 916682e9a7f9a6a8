import { type ObjectKey, jobs, pods } from "@kubewright/api";
import type { Clock } from "@kubewright/clock";
import { ConsistencyStore, ControllerExpectations, FinalizerExpectations } from "@kubewright/expectations";

import type { BackoffRecord } from "./backoff.js";

interface Versioned {
  readonly lastStoreSyncResourceVersion: string;
}

/**
 * The controller's state that the API server does not store. It is lost on restart; correctness does not depend on it.
 */
export class JobMemory {
  /** UID of the last synced Job, by key. */
  readonly #uids = new Map<ObjectKey, string>();
  /** Pending creations and deletions of pods, by Job key. */
  readonly expectations: ControllerExpectations;
  /** Pending removals of tracking finalizers, by Job key. */
  readonly finalizers = new FinalizerExpectations();
  readonly backoff = new Map<ObjectKey, BackoffRecord>();
  /**
   * UIDs of Jobs whose terminal condition is written, though the cache may not show it. Their pods have no finalizers
   * any more: a sync of the stale Job would consider them missing and create replacements.
   */
  readonly finished = new Set<string>();
  /** Writes that the caches must show before the next sync. */
  readonly consistency: ConsistencyStore;
  /** Whether {@link consistency} is enforced. */
  readonly requiresReadYourWrites: boolean;

  constructor({
    clock,
    jobStore,
    podStore,
    consistencyGate = true,
  }: {
    readonly clock: Clock;
    readonly jobStore: Versioned;
    readonly podStore: Versioned;
    /** Whether a sync waits until the caches show the controller's own writes. */
    readonly consistencyGate?: boolean;
  }) {
    this.expectations = new ControllerExpectations({ clock });
    const stores = [
      { group: pods.group, resource: pods.resource, resourceVersion: () => podStore.lastStoreSyncResourceVersion },
      { group: jobs.group, resource: jobs.resource, resourceVersion: () => jobStore.lastStoreSyncResourceVersion },
    ];
    this.requiresReadYourWrites = consistencyGate;
    this.consistency = new ConsistencyStore({ stores: consistencyGate ? stores : [] });
  }

  /** Returns whether the caches show everything that was done for the Job, so that they are complete. */
  isUpToDate(key: ObjectKey): boolean {
    return this.expectations.satisfiedExpectations(key) && this.consistency.ensureReady(key).ready;
  }

  /**
   * Begins a sync of the Job. If another Job had the key before, its state is deleted: events of its pods do not meet
   * expectations for this Job, so its expectations would delay this Job.
   */
  beginSync(key: ObjectKey, uid: string): void {
    const before = this.#uids.get(key);
    if (before === uid) return;
    if (before !== undefined) this.forgetKey(key);
    this.#uids.set(key, uid);
  }

  /** Deletes the state of a Job that is gone from the cache, so that the next Job of that name starts without it. */
  forgetKey(key: ObjectKey): void {
    this.#uids.delete(key);
    this.expectations.deleteExpectations(key);
    this.finalizers.deleteExpectations(key);
    this.consistency.clear(key);
    this.backoff.delete(key);
  }

  /** Deletes the state of a Job that has finished according to the cache. */
  forgetFinished(key: ObjectKey, uid: string): void {
    this.backoff.delete(key);
    this.consistency.clear(key, uid);
    this.finished.delete(uid);
  }
}
