/**
 * Stores, per Job key, the UIDs of pods whose finalizer was removed, or is about to be removed, while the cache may
 * still show it. The controller treats such pods as having no finalizer. Never expires.
 *
 * @see kubernetes v1.36 pkg/controller/job/tracking_utils.go uidTrackingExpectations
 */
export class FinalizerExpectations {
  readonly #uids = new Map<string, Set<string>>();
  readonly #none: ReadonlySet<string> = new Set();

  /** Adds UIDs to the expected ones. Call it before sending the patches. */
  expectFinalizersRemoved(key: string, uids: Iterable<string>): void {
    const expected = this.#uids.get(key) ?? new Set();
    for (const uid of uids) expected.add(uid);
    if (expected.size > 0) this.#uids.set(key, expected);
  }

  /** Records that the cache shows the pod without the finalizer or not at all, or that the patch failed. */
  finalizerRemovalObserved(key: string, uid: string): void {
    const expected = this.#uids.get(key);
    if (expected === undefined) return;
    // Drops the whole set with its last entry, because deleting that entry would allocate a new table.
    if (expected.size > 1) expected.delete(uid);
    else if (expected.has(uid)) this.#uids.delete(key);
  }

  /** Returns a snapshot. Later observations do not change it. */
  expectedUIDs(key: string): ReadonlySet<string> {
    const expected = this.#uids.get(key);
    return expected === undefined ? this.#none : new Set(expected);
  }

  deleteExpectations(key: string): void {
    this.#uids.delete(key);
  }
}
