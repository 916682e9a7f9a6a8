import type { StoredObject } from "./stored-object.js";

/** Somebody who has yet to read what was stored at some time. */
export interface Reader {
  /** The version of the oldest thing it has yet to read; `undefined`: nothing. */
  readonly oldestVersion: number | undefined;
  /** Ends it, and lets go of what it held. */
  cutOff(): void;
}

/**
 * What is kept for readers alone: objects that a newer version has replaced, and that some watch or list has yet to be sent.
 * However many hold one, it counts once. Beyond the limit, who is the furthest behind is cut off.
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

  /** A newer version, or none, has taken the object's place. */
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
