/**
 * Concatenates byte chunks of any size. Time and memory grow linearly with the number of bytes: one array that doubles.
 * A single chunk is not copied.
 */
export class ByteBuffer {
  readonly #limit: number;
  readonly #limitError: () => Error;
  #bytes: Uint8Array = EMPTY;
  #length = 0;
  /** Whether `#bytes` was allocated by this buffer and can be written to. */
  #ownsBytes = false;

  /**
   * @param limit - The maximum number of bytes.
   * @param limitError - Creates the error for exceeding the limit.
   */
  constructor(limit: number, limitError: () => Error) {
    this.#limit = limit;
    this.#limitError = limitError;
  }

  get length(): number {
    return this.#length;
  }

  /** @throws the error of `limitError` when the limit is exceeded. */
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

  /** Returns all bytes and empties the buffer. */
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
