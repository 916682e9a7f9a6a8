import type { StoredObject } from "./stored-object.js";

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
    return (this.#last ??= this.previous!.withResourceVersion(this.resourceVersion));
  }

  get subject(): StoredObject {
    return (this.current ?? this.previous)!;
  }
}
