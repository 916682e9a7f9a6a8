import type { Random } from "@kubewright/clock";

/** Draws random values for one part of a plan. */
export class Draw {
  readonly #random: Random;

  constructor(random: Random) {
    this.#random = random;
  }

  /** Returns an independent source for a sub-part: its draws do not influence those of other parts. */
  fork(name: string): Draw {
    return new Draw(this.#random.fork(name));
  }

  /** @param share - Probability of true, 0 to 1. */
  chance(share: number): boolean {
    return this.#random.next() < share;
  }

  /** Returns an integer in the range, both ends included. */
  integer(from: number, to: number): number {
    return from + Math.floor(this.#random.next() * (to - from + 1));
  }

  /** @throws Error for an empty list. */
  pick<const T>(items: readonly T[]): T {
    if (items.length === 0) throw new Error("there is nothing to pick from");
    return items[Math.floor(this.#random.next() * items.length)]!;
  }

  /** Returns one of the items, with a probability proportional to its weight. */
  weighted<T>(items: readonly (readonly [T, number])[]): T {
    let left = this.#random.next() * items.reduce((sum, [, weight]) => sum + weight, 0);
    for (const [item, weight] of items) {
      left -= weight;
      if (left < 0) return item;
    }
    return items.at(-1)![0];
  }

  /** Returns one of the keys, with a probability proportional to its weight. */
  pickBy<Key extends string>(weights: Readonly<Record<Key, number>>): Key {
    return this.weighted(Object.entries(weights) as [Key, number][]);
  }

  /**
   * Returns an integer in one of several ranges, both ends included.
   *
   * @param ranges - First and last number and weight of each range, by the name of its source.
   */
  range(name: string, ranges: Readonly<Record<string, readonly [from: number, to: number, weight: number]>>): number {
    return this.fork(name).weighted(
      Object.entries(ranges).map(([range, [from, to, weight]]) => [this.fork(range).integer(from, to), weight]),
    );
  }

  /**
   * Returns milliseconds from a mix around the delays of controllers: event batches (1 s), retries (1 to 60 s), PodGC
   * passes (20 s) and, rarely, more than the expectations timeout (5 min).
   */
  delayMs(): number {
    const [from, to] = this.weighted([
      [[0, 50], 30],
      [[500, 3_000], 40],
      [[10_000, 90_000], 27],
      [[360_000, 360_000], 3],
    ] as const);
    return this.integer(from, to);
  }
}
