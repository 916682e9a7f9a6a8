/**
 * Per Job key: UIDs of pods whose finalizer was patched away, or is about to be, while the cache may still show it.
 * Such pods count as having none. Never expires.
 *
 * @see kubernetes v1.36 pkg/controller/job/tracking_utils.go uidTrackingExpectations
 */
export class FinalizerExpectations {
  readonly #uids = new Map<string, Set<string>>();
  readonly #none: ReadonlySet<string> = new Set();

  /** Adds to what is expected already. Call it before sending the patches. */
  expectFinalizersRemoved(key: string, uids: Iterable<string>): void {
    const expected = this.#uids.get(key) ?? new Set();
    for (const uid of uids) expected.add(uid);
    if (expected.size > 0) this.#uids.set(key, expected);
  }

  /** The cache shows the pod without the finalizer or no more, or the patch failed. */
  finalizerRemovalObserved(key: string, uid: string): void {
    const expected = this.#uids.get(key);
    if (expected === undefined) return;
    // A set that becomes empty goes as it is: taking its last entry out would cost it a new table.
    if (expected.size > 1) expected.delete(uid);
    else if (expected.has(uid)) this.#uids.delete(key);
  }

  /** A snapshot: what is observed later does not change it. */
  expectedUIDs(key: string): ReadonlySet<string> {
    const expected = this.#uids.get(key);
    return expected === undefined ? this.#none : new Set(expected);
  }

  deleteExpectations(key: string): void {
    this.#uids.delete(key);
  }
}
