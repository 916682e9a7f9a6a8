/**
 * Puts bytes together that arrive in pieces, however small, in time and memory that grow with their number: one array that
 * doubles. What comes in one piece is not copied.
 */
export class ByteBuffer {
  readonly #limit: number;
  readonly #exceeded: () => Error;
  #bytes: Uint8Array = NOTHING;
  #length = 0;
  /** Whether there may be written to `#bytes`. */
  #isOwn = false;

  /**
   * @param limit - The most bytes at once.
   * @param exceeded - The error when there are more.
   */
  constructor(limit: number, exceeded: () => Error) {
    this.#limit = limit;
    this.#exceeded = exceeded;
  }

  get length(): number {
    return this.#length;
  }

  /** @throws what `exceeded` makes. */
  append(part: Uint8Array): void {
    const length = this.#length + part.length;
    if (length > this.#limit) throw this.#exceeded();
    if (this.#length === 0) {
      this.#bytes = part;
      this.#isOwn = false;
    } else {
      if (!this.#isOwn || length > this.#bytes.length) this.#grow(length);
      this.#bytes.set(part, this.#length);
    }
    this.#length = length;
  }

  /** Everything so far, which is then forgotten here. */
  take(): Uint8Array {
    const all = this.#bytes.subarray(0, this.#length);
    this.#bytes = NOTHING;
    this.#length = 0;
    this.#isOwn = false;
    return all;
  }

  #grow(length: number): void {
    const grown = new Uint8Array(Math.max(length, Math.min(2 * length, this.#limit)));
    grown.set(this.#bytes.subarray(0, this.#length));
    this.#bytes = grown;
    this.#isOwn = true;
  }
}

const NOTHING = new Uint8Array(0);
