import type { StoredObject } from "./stored-object.js";

/** A reader that has not yet read all objects of an earlier version. */
export interface Reader {
  /** resourceVersion of the oldest unread object or event; `undefined` when there is none. */
  readonly oldestVersion: number | undefined;
  /** Ends the reader and releases its objects. */
  cutOff(): void;
}

/**
 * Counts the memory retained only for readers: replaced objects that a watch or list has not sent yet. An object counts
 * once, however many readers hold it. Above the limit the reader that is furthest behind is cut off.
 */
export class Backlog {
  readonly #maxBytes: number;
  readonly #readers = new Set<Reader>();
  #bytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  join(reader: Reader): void {
    this.#readers.add(reader);
  }

  leave(reader: Reader): void {
    this.#readers.delete(reader);
  }

  hold(stored: StoredObject): void {
    if (stored.holders++ === 0 && stored.isReplaced) this.#bytes += stored.size;
  }

  release(stored: StoredObject): void {
    if (--stored.holders === 0 && stored.isReplaced) this.#bytes -= stored.size;
  }

  /** Marks an object as replaced by a newer version, or removed. */
  replace(stored: StoredObject): void {
    stored.isReplaced = true;
    if (stored.holders === 0) return;
    this.#bytes += stored.size;
    if (this.#bytes > this.#maxBytes) this.#shrink();
  }

  #shrink(): void {
    const behind: { readonly reader: Reader; readonly version: number }[] = [];
    for (const reader of this.#readers) {
      const version = reader.oldestVersion;
      if (version !== undefined) behind.push({ reader, version });
    }
    behind.sort((a, b) => a.version - b.version);
    for (const { reader } of behind) {
      if (this.#bytes <= this.#maxBytes / 2) return;
      reader.cutOff();
    }
  }
}
