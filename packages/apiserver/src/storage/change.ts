import type { StoredObject } from "./stored-object.js";

/** Bytes of a change and its objects, without the objects' content. */
const CHANGE_BYTES = 300;

/** One write: the object before and after it. At least one of them is present. */
export class Change {
  #last: StoredObject | undefined;

  constructor(
    readonly resourceVersion: number,
    readonly previous: StoredObject | undefined,
    readonly current: StoredObject | undefined,
  ) {}

  /** The previous content with this change's resourceVersion: the object of a DELETED event. */
  get last(): StoredObject {
    if (this.#last === undefined) {
      this.#last = this.previous!.withResourceVersion(this.resourceVersion);
      this.#last.isReplaced = true;
    }
    return this.#last;
  }

  /** Approximate bytes retained with this change. The store or the next change retains the current object. */
  get bytes(): number {
    return CHANGE_BYTES + (this.previous?.size ?? 0);
  }

  get subject(): StoredObject {
    return (this.current ?? this.previous)!;
  }
}
