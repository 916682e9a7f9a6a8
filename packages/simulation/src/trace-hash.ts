/**
 * A 64-bit hash of a sequence of strings and integers, computed incrementally. It distinguishes runs and is not
 * cryptographic. The parts of a record are added one by one: joining them first takes longer than hashing them.
 */
export class TraceHash {
  #low = 0x811c9dc5 | 0;
  #high = 0x9e3779b9 | 0;

  add(...parts: readonly (string | number | undefined)[]): void {
    for (const part of parts)
      if (typeof part === "number") this.#addNumber(part);
      else this.#addText(part ?? "");
  }

  #addNumber(value: number): void {
    const low = Math.imul(this.#low ^ value, 0x01000193);
    let high = Math.imul(this.#high ^ (value / 2 ** 32) ^ low, 0x5bd1e995);
    high ^= high >>> 13;
    this.#low = low ^ (high << 7);
    this.#high = high;
  }

  #addText(text: string): void {
    let low = this.#low;
    let high = this.#high;
    for (let index = 0; index < text.length; index++) {
      const code = text.charCodeAt(index);
      low = Math.imul(low ^ code, 0x01000193);
      high = Math.imul(high ^ code, 0x5bd1e995);
      high ^= high >>> 13;
    }
    // Separates the parts: the hash of two strings differs from that of their concatenation.
    this.#low = Math.imul(low ^ text.length, 0x01000193);
    this.#high = Math.imul(high ^ low, 0x5bd1e995) ^ 0x1f;
  }

  /** The hash as sixteen hexadecimal digits. */
  get text(): string {
    return hex(this.#high) + hex(this.#low);
  }
}

function hex(bits: number): string {
  return (bits >>> 0).toString(16).padStart(8, "0");
}
