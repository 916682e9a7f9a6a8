import type { Backlog, Reader } from "./backlog.js";
import type { StoredObject } from "./stored-object.js";

/** A list that is being sent. Holds the elements that are not sent yet. */
export class ListReading implements Reader {
  readonly oldestVersion: number;
  readonly #items: readonly StoredObject[];
  readonly #backlog: Backlog;
  readonly #onCutOff: () => void;
  #next = 0;

  constructor(options: {
    readonly items: readonly StoredObject[];
    readonly version: number;
    readonly backlog: Backlog;
    readonly onCutOff: () => void;
  }) {
    this.#items = options.items;
    this.oldestVersion = options.version;
    this.#backlog = options.backlog;
    this.#onCutOff = options.onCutOff;
    for (const stored of this.#items) this.#backlog.hold(stored);
    this.#backlog.join(this);
  }

  /** Releases the elements before the index. */
  advanceTo(count: number): void {
    for (; this.#next < count; this.#next++) this.#backlog.release(this.#items[this.#next]!);
  }

  end(): void {
    this.advanceTo(this.#items.length);
    this.#backlog.leave(this);
  }

  cutOff(): void {
    this.end();
    this.#onCutOff();
  }
}
