import { xoroshiro128plus } from "pure-rand/generator/xoroshiro128plus";

/** Everything that draws lots takes one of these. */
export interface Random {
  /** A number in [0, 1). */
  next(): number;
  /** An unsigned 32-bit integer. */
  uint32(): number;
  /**
   * A source of its own for one purpose. Equal seeds and labels give equal sources, however often the parent or other
   * forks were used: adding a consumer never changes what the others draw.
   */
  fork(label: string): Random;
}

/** A reproducible source. */
export function seededRandom(seed: number): Random {
  return new SeededRandom(mix(0x9e3779b9, seed));
}

/** The machine's cryptographic source. */
export const realRandom: Random = {
  next: () => realRandom.uint32() / 2 ** 32,
  uint32: () => crypto.getRandomValues(new Uint32Array(1))[0]!,
  fork: () => realRandom,
};

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

const HEX = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, "0"));

/** The lower 16 bits. */
function half(bits: number): string {
  return HEX[(bits >>> 8) & 0xff]! + HEX[bits & 0xff]!;
}

/** A version 4 UUID. */
export function uuid(random: Random): string {
  const first = random.uint32();
  const second = (random.uint32() & 0xffff0fff) | 0x00004000;
  const third = (random.uint32() & 0x3fffffff) | 0x80000000;
  const fourth = random.uint32();
  const [a, b, c] = [half(first >>> 16) + half(first), half(second >>> 16), half(second)];
  return `${a}-${b}-${c}-${half(third >>> 16)}-${half(third)}${half(fourth >>> 16)}${half(fourth)}`;
}
