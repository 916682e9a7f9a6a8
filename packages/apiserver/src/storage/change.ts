import type { StoredObject } from "./stored-object.js";

/** A change itself, and what it holds of an object besides its content. */
const CHANGE_BYTES = 300;

/** One write: what was there before, what is there now. At least one of them is present. */
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

  /** Bytes that are kept with this change, roughly: what came after it is kept by the store, or by the change after it. */
  get bytes(): number {
    return CHANGE_BYTES + (this.previous?.size ?? 0);
  }

  get subject(): StoredObject {
    return (this.current ?? this.previous)!;
  }
}
