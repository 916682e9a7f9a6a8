import type { ConcurrencySteps, Levels } from "@kubewright/timeline/data";

type Series = "running" | "waiting" | "cpuMillis";
const LEVELS = ["pods", "running", "waiting", "cpuMillis"] as const;

/**
 * Bound on memory, and more steps than a screen has pixels. Beyond it, each pair of neighbouring steps becomes one of
 * twice the length.
 */
const MAX_STEPS = 20_000;

/** Counts concurrent pods and requested CPU over time, in bounded memory. Changes must arrive in order of time. */
export class Concurrency {
  #stepMs = 1_000;
  #atMs: number[] = [];
  readonly #levels = {
    pods: new GrowingLevels(),
    running: new GrowingLevels(),
    waiting: new GrowingLevels(),
    cpuMillis: new GrowingLevels(),
  };

  add(atMs: number, series: Series, change: number): void {
    const step = Math.floor(atMs / this.#stepMs) * this.#stepMs;
    const latest = this.#atMs.at(-1);
    if (latest === undefined || latest < step) {
      this.#atMs.push(step);
      for (const name of LEVELS) this.#levels[name].open();
    }
    this.#levels[series].change(change);
    if (series !== "cpuMillis") this.#levels.pods.change(change);
    if (this.#atMs.length > MAX_STEPS) this.#coarsen();
  }

  steps(): ConcurrencySteps {
    return { stepMs: this.#stepMs, atMs: this.#atMs, ...this.#levels };
  }

  #coarsen(): void {
    this.#stepMs *= 2;
    const atMs: number[] = [];
    const ends: number[] = [];
    for (const [index, at] of this.#atMs.entries()) {
      const step = Math.floor(at / this.#stepMs) * this.#stepMs;
      if (atMs.at(-1) !== step) atMs.push(step);
      ends[atMs.length - 1] = index;
    }
    this.#atMs = atMs;
    for (const name of LEVELS) this.#levels[name].merge(ends);
  }
}

class GrowingLevels implements Levels {
  peak: number[] = [];
  last: number[] = [];

  open(): void {
    const level = this.last.at(-1) ?? 0;
    this.last.push(level);
    // The peak ignores the level at the start of the step, because a pod may end at the time at which another starts.
    this.peak.push(0);
  }

  change(by: number): void {
    const index = this.last.length - 1;
    const level = Math.max(0, this.last[index]! + by);
    this.last[index] = level;
    this.peak[index] = Math.max(this.peak[index]!, level);
  }

  merge(ends: readonly number[]): void {
    let from = 0;
    const peak: number[] = [];
    const last: number[] = [];
    for (const end of ends) {
      peak.push(this.peak.slice(from, end + 1).reduce((max, level) => Math.max(max, level), 0));
      last.push(this.last[end]!);
      from = end + 1;
    }
    this.peak = peak;
    this.last = last;
  }
}
