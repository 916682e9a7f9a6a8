/**
 * Puts bytes together that arrive in pieces, however small, in time and memory that grow with their number: one array that
 * doubles. What comes in one piece is not copied.
 */
export class ByteBuffer {
  readonly #limit: number;
  readonly #limitError: () => Error;
  #bytes: Uint8Array = EMPTY;
  #length = 0;
  /** Whether there may be written to `#bytes`. */
  #ownsBytes = false;

  /**
   * @param limit - The most bytes at once.
   * @limitError limitError - The error when there are more.
   */
  constructor(limit: number, limitError: () => Error) {
    this.#limit = limit;
    this.#limitError = limitError;
  }

  get length(): number {
    return this.#length;
  }

  /** @throws what `exceeded` makes. */
  append(chunk: Uint8Array): void {
    const length = this.#length + chunk.length;
    if (length > this.#limit) throw this.#limitError();
    if (this.#length === 0) {
      this.#bytes = chunk;
      this.#ownsBytes = false;
    } else {
      if (!this.#ownsBytes || length > this.#bytes.length) this.#grow(length);
      this.#bytes.set(chunk, this.#length);
    }
    this.#length = length;
  }

  /** Everything so far, which is then forgotten here. */
  take(): Uint8Array {
    const all = this.#bytes.subarray(0, this.#length);
    this.#bytes = EMPTY;
    this.#length = 0;
    this.#ownsBytes = false;
    return all;
  }

  #grow(length: number): void {
    const grown = new Uint8Array(Math.max(length, Math.min(2 * length, this.#limit)));
    grown.set(this.#bytes.subarray(0, this.#length));
    this.#bytes = grown;
    this.#ownsBytes = true;
  }
}

const EMPTY = new Uint8Array(0);
