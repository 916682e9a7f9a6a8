import type { SettledRow } from "../run-outcome.js";
import {
  LEVEL_CHANGE_LENGTH,
  LEVELS,
  MARK_LENGTH,
  type SegmentChunk,
  type SegmentUsage,
  type SegmentNotice,
} from "./segment-chunk.js";
import type { LevelName } from "../futures/pod-levels.js";

/** Hears what all namespaces did, in canonical order. */
export interface MergedListener {
  /** What follows happens at this time, until another is told. */
  at(timeMs: number): void;
  /** Lines of the trace. */
  trace(lines: string): void;
  level(usage: SegmentUsage, level: LevelName, by: number): void;
  settled(row: SettledRow): void;
  notice(notice: SegmentNotice): void;
}

/**
 * Merges what namespaces did into the canonical order: by time, then by namespace, and of one namespace at one time in the
 * order in which it happened. That order depends on nothing but what happened: not on which threads played, nor how many.
 */
export class ChunkMerger {
  readonly #listener: MergedListener;
  /** By namespace, as its chunks count them. */
  readonly #usages = new Map<string, SegmentUsage[]>();

  constructor(listener: MergedListener) {
    this.#listener = listener;
  }

  /** @param chunks - Of the same stretch of time, one of each namespace, in the order of their names. */
  merge(chunks: readonly SegmentChunk[]): void {
    const usages = chunks.map((chunk) => this.#usagesOf(chunk));
    const order: { readonly atMs: number; readonly chunk: number; readonly mark: number }[] = [];
    for (const [chunk, { marks }] of chunks.entries())
      for (let mark = 0; mark < marks.length; mark += MARK_LENGTH) order.push({ atMs: marks[mark]!, chunk, mark });
    // Stable: of one time in the order of the chunks.
    order.sort((a, b) => a.atMs - b.atMs);
    for (const { atMs, chunk, mark } of order) {
      this.#listener.at(atMs);
      this.#deliver(chunks[chunk]!, usages[chunk]!, mark);
    }
  }

  #deliver(
    { marks, trace, levels, settled, notices }: SegmentChunk,
    usages: readonly SegmentUsage[],
    mark: number,
  ): void {
    const from = (place: number): number => (mark === 0 ? 0 : marks[mark - MARK_LENGTH + place]!);
    const to = (place: number): number => marks[mark + place]!;
    if (to(1) > from(1)) this.#listener.trace(trace.slice(from(1), to(1)));
    for (let index = from(2); index < to(2); index += LEVEL_CHANGE_LENGTH)
      this.#listener.level(usages[levels[index]!]!, LEVELS[levels[index + 1]!]!, levels[index + 2]!);
    for (let index = from(3); index < to(3); index++) this.#listener.settled(settled[index]!);
    for (let index = from(4); index < to(4); index++) this.#listener.notice(notices[index]!);
  }

  #usagesOf({ namespace, usages }: SegmentChunk): readonly SegmentUsage[] {
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
