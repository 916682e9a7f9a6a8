import type { Random } from "@kubewright/clock";

/** Draws lots for one part of a plan. */
export class Draw {
  readonly #random: Random;

  constructor(random: Random) {
    this.#random = random;
  }

  /** Lots of its own for a part of this part: what one draws leaves all others alone. */
  fork(name: string): Draw {
    return new Draw(this.#random.fork(name));
  }

  /** @param share - 0 to 1. */
  chance(share: number): boolean {
    return this.#random.next() < share;
  }

  /** A whole number from one to the other, both among them. */
  integer(from: number, to: number): number {
    return from + Math.floor(this.#random.next() * (to - from + 1));
  }

  /** @throws Error for an empty list. */
  pick<T>(items: readonly T[]): T {
    if (items.length === 0) throw new Error("there is nothing to pick from");
    return items[Math.floor(this.#random.next() * items.length)]!;
  }

  /** One of several, each as often as its weight says. */
  weighted<T>(items: readonly (readonly [T, number])[]): T {
    let left = this.#random.next() * items.reduce((sum, [, weight]) => sum + weight, 0);
    for (const [item, weight] of items) {
      left -= weight;
      if (left < 0) return item;
    }
    return items.at(-1)![0];
  }

  /**
   * Milliseconds, from a mix around what controllers wait for: a batch of events (1 s), retries (1 to 60 s), rounds of PodGC
   * (20 s) and, rarely, longer than expectations live (5 min).
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
