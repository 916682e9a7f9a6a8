import type { Clock } from "@kubewright/clock";

/** Creations and deletions asked for and not yet seen. Negative: more was seen than asked for. */
export interface Expectations {
  readonly add: number;
  readonly del: number;
  /** Monotonic time of the last `set`. */
  readonly timestampMs: number;
}

const EXPIRES_AFTER_MS = 5 * 60_000;

/**
 * Per owner key: how many creations and deletions a controller has asked for that its cache does not show yet. While
 * they are not satisfied, it must not create or delete more.
 *
 * Set the expectation before sending the requests, lower it for each that fails, and delete it when the owner is gone:
 * keys carry no UID. Nothing wakes the owner when an expectation expires: ask when that is, and look again then. An object
 * that came and went while a watch was interrupted is never seen.
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

  /** Expects `adds` creations, and no deletions any more. */
  expectCreations(key: string, adds: number): void {
    this.setExpectations(key, adds, 0);
  }

  /** Expects `dels` deletions, and no creations any more. */
  expectDeletions(key: string, dels: number): void {
    this.setExpectations(key, 0, dels);
  }

  /** A creation was seen, or failed. */
  creationObserved(key: string): void {
    this.lowerExpectations(key, 1, 0);
  }

  /** A deletion was seen, or failed. */
  deletionObserved(key: string): void {
    this.lowerExpectations(key, 0, 1);
  }

  /** Does nothing without a record: what is seen before the expectation is set is lost. */
  lowerExpectations(key: string, add: number, del: number): void {
    this.raiseExpectations(key, -add, -del);
  }

  /** Does nothing without a record. Leaves the timestamp as it is. @throws RangeError for what is not a whole number. */
  raiseExpectations(key: string, add: number, del: number): void {
    checkCounts(key, add, del);
    const record = this.#records.get(key);
    if (record !== undefined)
      this.#records.set(key, { add: record.add + add, del: record.del + del, timestampMs: record.timestampMs });
  }

  /** Whether the owner may be acted upon: nothing is outstanding, or it was set more than 5 minutes ago. */
  satisfiedExpectations(key: string): boolean {
    const record = this.#records.get(key);
    if (record === undefined || (record.add <= 0 && record.del <= 0)) return true;
    return this.#clock.monotonic() - record.timestampMs > EXPIRES_AFTER_MS;
  }

  /** After how many milliseconds they are satisfied whatever is seen until then; 0 where they are. Upstream has no such thing. */
  satisfiedInMs(key: string): number {
    if (this.satisfiedExpectations(key)) return 0;
    const { timestampMs } = this.#records.get(key)!;
    return timestampMs + EXPIRES_AFTER_MS - this.#clock.monotonic() + 1;
  }

  deleteExpectations(key: string): void {
    this.#records.delete(key);
  }

  /** A snapshot; later calls do not change it. */
  getExpectations(key: string): Expectations | undefined {
    return this.#records.get(key);
  }
}

/** A count that is no number would never be satisfied, and block its owner until it expires. */
function checkCounts(key: string, ...counts: readonly number[]): void {
  for (const count of counts)
    if (!Number.isInteger(count)) throw new RangeError(`expectations of ${key}: ${count} is not a whole number`);
}
