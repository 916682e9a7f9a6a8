import type { Clock } from "@kubewright/clock";

import { ControllerExpectations, type Expectations } from "./controller-expectations.js";

export interface UIDTrackingExpectationsOptions {
  readonly clock: Pick<Clock, "monotonic">;
  /** Called when deletions are expected while earlier ones are outstanding, which is a bug of the controller. */
  readonly onClobber?: (key: string, outstanding: ReadonlySet<string>) => void;
}

/**
 * {@link ControllerExpectations} that identify deletions by id. A deletion observed twice (when the deletion timestamp
 * appears, and when the object is deleted) counts once. Deletions that were not expected do not count.
 *
 * @see kubernetes v1.36 pkg/controller/controller_utils.go UIDTrackingControllerExpectations
 */
export class UIDTrackingExpectations {
  readonly #counts: ControllerExpectations;
  readonly #deletions = new Map<string, Set<string>>();
  readonly #onClobber: UIDTrackingExpectationsOptions["onClobber"];

  constructor({ clock, onClobber }: UIDTrackingExpectationsOptions) {
    this.#counts = new ControllerExpectations({ clock });
    this.#onClobber = onClobber;
  }

  /** Expects `adds` creations and no deletions. */
  expectCreations(key: string, adds: number): void {
    this.#counts.expectCreations(key, adds);
  }

  /** Expects the deletion of each distinct id and no creations. */
  expectDeletions(key: string, ids: Iterable<string>): void {
    const outstanding = this.#deletions.get(key);
    if (outstanding !== undefined && outstanding.size > 0) this.#onClobber?.(key, outstanding);
    const distinct = new Set(ids);
    this.#deletions.set(key, distinct);
    this.#counts.expectDeletions(key, distinct.size);
  }

  creationObserved(key: string): void {
    this.#counts.creationObserved(key);
  }

  /** Counts only an id that is expected and was not observed before. */
  deletionObserved(key: string, id: string): void {
    if (this.#deletions.get(key)?.delete(id)) this.#counts.deletionObserved(key);
  }

  satisfiedExpectations(key: string): boolean {
    return this.#counts.satisfiedExpectations(key);
  }

  lowerExpectations(key: string, add: number, del: number): void {
    this.#counts.lowerExpectations(key, add, del);
  }

  raiseExpectations(key: string, add: number, del: number): void {
    this.#counts.raiseExpectations(key, add, del);
  }

  deleteExpectations(key: string): void {
    this.#counts.deleteExpectations(key);
    this.#deletions.delete(key);
  }

  getExpectations(key: string): Expectations | undefined {
    return this.#counts.getExpectations(key);
  }

  /** Returns a snapshot of the ids whose deletion is outstanding. */
  getUIDs(key: string): ReadonlySet<string> {
    return new Set(this.#deletions.get(key));
  }
}
