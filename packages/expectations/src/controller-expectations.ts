import type { Clock } from "@kubewright/clock";

/**
 * Numbers of requested creations and deletions that were not observed yet. Negative if more were observed than
 * requested.
 */
export interface Expectations {
  readonly add: number;
  readonly del: number;
  /** Monotonic time of the last `setExpectations`. */
  readonly timestampMs: number;
}

const EXPIRES_AFTER_MS = 5 * 60_000;

/**
 * Counts, per owner key, the creations and deletions that a controller has requested and its cache does not show yet. A
 * controller must not create or delete more until they are satisfied.
 *
 * Set the expectation before sending the requests. Lower it for each request that fails. Delete it when the owner is
 * deleted, because keys contain no UID. Nothing wakes the owner when an expectation expires: use {@link satisfiedInMs}
 * to process it again then. A cache never shows an object that was created and deleted while a watch was interrupted.
 *
 * @see kubernetes v1.36 pkg/controller/controller_utils.go ControllerExpectations
 */
export class ControllerExpectations {
  readonly #clock: Pick<Clock, "monotonic">;
  readonly #records = new Map<string, Expectations>();

  constructor({ clock }: { clock: Pick<Clock, "monotonic"> }) {
    this.#clock = clock;
  }

  /** Replaces the record of `key`. @throws RangeError for a count that is not a whole number from zero up. */
  setExpectations(key: string, add: number, del: number): void {
    checkCounts(key, add, del);
    if (add < 0 || del < 0)
      throw new RangeError(`expectations of ${key}: ${add} creations, ${del} deletions: not below zero`);
    this.#records.set(key, { add, del, timestampMs: this.#clock.monotonic() });
  }

  /** Expects `adds` creations and no deletions. */
  expectCreations(key: string, adds: number): void {
    this.setExpectations(key, adds, 0);
  }

  /** Expects `dels` deletions and no creations. */
  expectDeletions(key: string, dels: number): void {
    this.setExpectations(key, 0, dels);
  }

  /** Records an observed or failed creation. */
  creationObserved(key: string): void {
    this.lowerExpectations(key, 1, 0);
  }

  /** Records an observed or failed deletion. */
  deletionObserved(key: string): void {
    this.lowerExpectations(key, 0, 1);
  }

  /** Has no effect without a record: an observation before the expectation is set is lost. */
  lowerExpectations(key: string, add: number, del: number): void {
    this.raiseExpectations(key, -add, -del);
  }

  /**
   * Has no effect without a record. Does not change the timestamp. @throws RangeError for a count that is not a whole
   * number.
   */
  raiseExpectations(key: string, add: number, del: number): void {
    checkCounts(key, add, del);
    const record = this.#records.get(key);
    if (record !== undefined)
      this.#records.set(key, { add: record.add + add, del: record.del + del, timestampMs: record.timestampMs });
  }

  /**
   * Whether the controller may act on the owner: nothing is outstanding, or the expectation was set more than 5 minutes
   * ago.
   */
  satisfiedExpectations(key: string): boolean {
    const record = this.#records.get(key);
    if (record === undefined || (record.add <= 0 && record.del <= 0)) return true;
    return this.#clock.monotonic() - record.timestampMs > EXPIRES_AFTER_MS;
  }

  /**
   * Milliseconds until the expectation is satisfied at the latest; 0 if it is satisfied. Upstream has no such method.
   */
  satisfiedInMs(key: string): number {
    if (this.satisfiedExpectations(key)) return 0;
    const { timestampMs } = this.#records.get(key)!;
    return timestampMs + EXPIRES_AFTER_MS - this.#clock.monotonic() + 1;
  }

  deleteExpectations(key: string): void {
    this.#records.delete(key);
  }

  /** Returns a snapshot. Later calls do not change it. */
  getExpectations(key: string): Expectations | undefined {
    return this.#records.get(key);
  }
}

/** A count that is not a number would never be satisfied, and would block its owner until it expires. */
function checkCounts(key: string, ...counts: readonly number[]): void {
  for (const count of counts)
    if (!Number.isInteger(count)) throw new RangeError(`expectations of ${key}: ${count} is not a whole number`);
}
