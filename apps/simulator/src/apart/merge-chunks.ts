import type { SettledRow } from "../run-outcome.js";
import { CHANGE, LEVELS, MARK, type PartChunk, type PartUsage, type Told } from "./part-chunk.js";
import type { LevelName } from "../futures/pod-levels.js";

/** Hears what all namespaces did, in canonical order. */
export interface MergedListener {
  /** What follows happens at this time, until another is told. */
  at(timeMs: number): void;
  /** Lines of the trace. */
  trace(lines: string): void;
  level(usage: PartUsage, level: LevelName, by: number): void;
  settled(row: SettledRow): void;
  told(told: Told): void;
}

/**
 * Merges what namespaces did into the canonical order: by time, then by namespace, and of one namespace at one time in the
 * order in which it happened. That order depends on nothing but what happened: not on which threads played, nor how many.
 */
export class ChunkMerger {
  readonly #listener: MergedListener;
  /** By namespace, as its chunks count them. */
  readonly #usages = new Map<string, PartUsage[]>();

  constructor(listener: MergedListener) {
    this.#listener = listener;
  }

  /** @param chunks - Of the same stretch of time, one of each namespace, in the order of their names. */
  merge(chunks: readonly PartChunk[]): void {
    const usages = chunks.map((chunk) => this.#usagesOf(chunk));
    const order: { readonly atMs: number; readonly chunk: number; readonly mark: number }[] = [];
    for (const [chunk, { marks }] of chunks.entries())
      for (let mark = 0; mark < marks.length; mark += MARK) order.push({ atMs: marks[mark]!, chunk, mark });
    // Stable: of one time in the order of the chunks.
    order.sort((a, b) => a.atMs - b.atMs);
    for (const { atMs, chunk, mark } of order) {
      this.#listener.at(atMs);
      this.#hand(chunks[chunk]!, usages[chunk]!, mark);
    }
  }

  #hand({ marks, trace, levels, settled, told }: PartChunk, usages: readonly PartUsage[], mark: number): void {
    const from = (place: number): number => (mark === 0 ? 0 : marks[mark - MARK + place]!);
    const to = (place: number): number => marks[mark + place]!;
    if (to(1) > from(1)) this.#listener.trace(trace.slice(from(1), to(1)));
    for (let index = from(2); index < to(2); index += CHANGE)
      this.#listener.level(usages[levels[index]!]!, LEVELS[levels[index + 1]!]!, levels[index + 2]!);
    for (let index = from(3); index < to(3); index++) this.#listener.settled(settled[index]!);
    for (let index = from(4); index < to(4); index++) this.#listener.told(told[index]!);
  }

  #usagesOf({ namespace, usages }: PartChunk): readonly PartUsage[] {
    const known = this.#usages.get(namespace);
    if (known === undefined) {
      const all = [...usages];
      this.#usages.set(namespace, all);
      return all;
    }
    known.push(...usages);
    return known;
  }
}
