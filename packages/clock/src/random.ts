import { xoroshiro128plus } from "pure-rand/generator/xoroshiro128plus";

/** The source of randomness for all code that needs it. */
export interface Random {
  /** Returns a number in [0, 1). */
  next(): number;
  /** Returns an unsigned 32-bit integer. */
  uint32(): number;
  /**
   * Returns an independent source for one purpose. Equal seeds and labels give equal sources, regardless of how often
   * the parent or other forks were used. A new consumer therefore never changes the values of the others.
   */
  fork(label: string): Random;
}

/** Returns a reproducible source. */
export function seededRandom(seed: number): Random {
  return new SeededRandom(mix(0x9e3779b9, seed));
}

class RuntimeRandom implements Random {
  /** One call of the runtime for each number costs more than the rest of a UUID. */
  readonly #drawn = new Uint32Array(256);
  #next = this.#drawn.length;

  uint32(): number {
    if (this.#next === this.#drawn.length) {
      crypto.getRandomValues(this.#drawn);
      this.#next = 0;
    }
    return this.#drawn[this.#next++]!;
  }

  next(): number {
    return this.uint32() / 2 ** 32;
  }

  fork(): Random {
    return this;
  }
}

/** The runtime's cryptographic source. */
export const realRandom: Random = new RuntimeRandom();

class SeededRandom implements Random {
  readonly #seed: number;
  readonly #generator: ReturnType<typeof xoroshiro128plus>;

  constructor(seed: number) {
    this.#seed = seed;
    this.#generator = xoroshiro128plus(seed);
  }

  uint32(): number {
    return this.#generator.next() >>> 0;
  }

  next(): number {
    return this.uint32() / 2 ** 32;
  }

  fork(label: string): Random {
    let seed = this.#seed;
    for (let index = 0; index < label.length; index++) seed = mix(seed, label.charCodeAt(index));
    return new SeededRandom(mix(seed, label.length));
  }
}

/** One step of a well-spread 32-bit hash (murmur3's). */
function mix(state: number, value: number): number {
  let k = Math.imul(value | 0, 0xcc9e2d51);
  k = Math.imul((k << 15) | (k >>> 17), 0x1b873593);
  let h = state ^ k;
  h = (Math.imul((h << 13) | (h >>> 19), 5) + 0xe6546b64) | 0;
  h ^= h >>> 16;
  h = Math.imul(h, 0x85ebca6b);
  return h ^ (h >>> 13);
}

/** Character codes of the hexadecimal digits. */
const HEX = Array.from("0123456789abcdef", (digit) => digit.charCodeAt(0));
const HYPHEN = 45;

/** A version 4 UUID. */
export function uuid(random: Random): string {
  const first = random.uint32();
  const second = (random.uint32() & 0xffff0fff) | 0x00004000;
  const third = (random.uint32() & 0x3fffffff) | 0x80000000;
  const fourth = random.uint32();
  // Creates a flat string. A concatenation of short strings stays a tree of them (V8's cons strings, 400 bytes) as long
  // as the UID is referenced.
  // prettier-ignore
  return String.fromCharCode(
    digit(first, 7), digit(first, 6), digit(first, 5), digit(first, 4),
    digit(first, 3), digit(first, 2), digit(first, 1), digit(first, 0), HYPHEN,
    digit(second, 7), digit(second, 6), digit(second, 5), digit(second, 4), HYPHEN,
    digit(second, 3), digit(second, 2), digit(second, 1), digit(second, 0), HYPHEN,
    digit(third, 7), digit(third, 6), digit(third, 5), digit(third, 4), HYPHEN,
    digit(third, 3), digit(third, 2), digit(third, 1), digit(third, 0),
    digit(fourth, 7), digit(fourth, 6), digit(fourth, 5), digit(fourth, 4),
    digit(fourth, 3), digit(fourth, 2), digit(fourth, 1), digit(fourth, 0),
  );
}

/** @param place - Index of the hexadecimal digit, 0 (lowest) to 7. */
function digit(bits: number, place: number): number {
  return HEX[(bits >>> (place * 4)) & 0xf]!;
}
