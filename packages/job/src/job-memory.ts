import { type ObjectKey, jobs, pods } from "@kubewright/api";
import type { Clock } from "@kubewright/clock";
import { ConsistencyStore, ControllerExpectations, FinalizerExpectations } from "@kubewright/expectations";

import type { BackoffRecord } from "./backoff.js";

interface Versioned {
  readonly lastStoreSyncResourceVersion: string;
}

/** All that the controller knows and the API server does not. Lost on restart; nothing depends on it for correctness. */
export class JobMemory {
  /** UIDs of the Jobs that the keys were last synced for. */
  readonly #uids = new Map<ObjectKey, string>();
  /** Pods being created and deleted, per Job key. */
  readonly expectations: ControllerExpectations;
  /** Pods losing their tracking finalizer, per Job key. */
  readonly finalizers = new FinalizerExpectations();
  readonly backoff = new Map<ObjectKey, BackoffRecord>();
  /**
   * UIDs of Jobs whose end is written, though the cache may not show it yet. Their pods have no finalizers any more: a
   * sync of the stale Job would take them for missing, and create others.
   */
  readonly finished = new Set<string>();
  /** What was written and must be read back before the next sync. */
  readonly consistency: ConsistencyStore;
  /** Whether it must. */
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
    /** Whether a Job waits until its writes can be read back. */
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

  /** Whether the caches show all that was done for the Job, so that they tell all there is to know of it. */
  isUpToDate(key: ObjectKey): boolean {
    return this.expectations.satisfiedExpectations(key) && this.consistency.ensureReady(key).ready;
  }

  /**
   * A sync of a Job begins. What is known of another that had its name is forgotten: the events of that one's pods are no news of
   * this one, so what was expected of it would hold this one back.
   */
  beginSync(key: ObjectKey, uid: string): void {
    const before = this.#uids.get(key);
    if (before === uid) return;
    if (before !== undefined) this.forgetKey(key);
    this.#uids.set(key, uid);
  }

  /** The Job is gone from the cache: whatever has its name next starts anew. */
  forgetKey(key: ObjectKey): void {
    this.#uids.delete(key);
    this.expectations.deleteExpectations(key);
    this.finalizers.deleteExpectations(key);
    this.consistency.clear(key);
    this.backoff.delete(key);
  }

  /** The Job has finished, as the cache shows. */
  forgetFinished(key: ObjectKey, uid: string): void {
    this.backoff.delete(key);
    this.consistency.clear(key, uid);
    this.finished.delete(uid);
  }
}
