import type { FutureCurves, LoadCurve } from "./load-curve.js";
import { LEVEL_NAMES, type PerLevel, perLevel } from "./levels.js";

/** A level for each time step, over many futures. */
export interface Band {
  /** The level that half of the futures do not exceed. */
  readonly p50: readonly number[];
  readonly p95: readonly number[];
  /** The maximum of all futures. */
  readonly max: readonly number[];
  /** The lowest seed that reached the maximum. */
  readonly seeds: readonly number[];
}

export type LoadBand = PerLevel<Band>;

/**
 * Aggregates the curves of many futures, in any order.
 *
 * Memory does not grow with their number: each step has a counter for each level that occurred, at most 900 for each
 * power of ten.
 */
export class LoadBands {
  #all: GrowingBand | undefined;
  readonly #groups: GrowingBand[] = [];
  #futures = 0;

  add({ all, groups }: FutureCurves, seed: number): void {
    this.#futures++;
    (this.#all ??= new GrowingBand(all)).add(all, seed);
    for (const [index, curve] of groups.entries()) (this.#groups[index] ??= new GrowingBand(curve)).add(curve, seed);
  }

  /** The band of all groups; `undefined` when nothing was added. */
  get all(): LoadBand | undefined {
    return this.#all?.bands(this.#futures);
  }

  /** In the order of the plan. */
  get groups(): LoadBand[] {
    return this.#groups.map((band) => band.bands(this.#futures));
  }
}

class GrowingBand {
  readonly #levels: PerLevel<LevelBand>;

  constructor({ pods }: LoadCurve) {
    this.#levels = perLevel(() => new LevelBand(pods.length));
  }

  add(curve: LoadCurve, seed: number): void {
    for (const level of LEVEL_NAMES) this.#levels[level].add(curve[level], seed);
  }

  bands(futures: number): LoadBand {
    return perLevel((level) => this.#levels[level].band(futures));
  }
}

class LevelBand {
  /** Counts of each level, by step. The level was 0 in all other futures. */
  readonly #counts: (Map<number, number> | undefined)[];
  readonly #max: number[];
  readonly #seeds: number[];

  constructor(steps: number) {
    this.#counts = Array.from({ length: steps });
    this.#max = Array.from({ length: steps }, () => 0);
    this.#seeds = Array.from({ length: steps }, () => Number.POSITIVE_INFINITY);
  }

  add(levels: readonly number[], seed: number): void {
    for (const [step, level] of levels.entries()) {
      const max = this.#max[step]!;
      if (level > max || (level === max && seed < this.#seeds[step]!)) {
        this.#max[step] = level;
        this.#seeds[step] = seed;
      }
      if (level === 0) continue;
      // Rounds to three digits, so that the number of counters is bounded.
      const rounded = Number(level.toPrecision(3));
      const counts = (this.#counts[step] ??= new Map<number, number>());
      counts.set(rounded, (counts.get(rounded) ?? 0) + 1);
    }
  }

  band(futures: number): Band {
    const sorted = this.#counts.map((counts) => [...(counts ?? [])].sort(([a], [b]) => b - a));
    const quantile = (share: number): number[] =>
      sorted.map((counts, step) => {
        // Counts from the top: this number of futures may exceed the quantile.
        let left = futures - Math.max(1, Math.ceil(share * futures));
        const found = counts.find(([, count]) => (left -= count) < 0);
        // The rounded value may exceed the maximum.
        return found === undefined ? 0 : Math.min(found[0], this.#max[step]!);
      });
    return { p50: quantile(0.5), p95: quantile(0.95), max: this.#max, seeds: this.#seeds };
  }
}
