import type { SettledRow } from "../run/run-outcome.js";
import {
  LEVEL_CHANGE_LENGTH,
  MARK_LENGTH,
  type SegmentChunk,
  type SegmentUsage,
  type SegmentNotice,
} from "./segment-chunk.js";
import { LEVEL_NAMES, type LevelName } from "../futures/levels.js";

/** Receives the output of all namespaces in canonical order. */
export interface MergedListener {
  /** Sets the time of all following calls, until the next call of `at`. */
  at(timeMs: number): void;
  /** Lines of the trace. */
  trace(lines: string): void;
  level(usage: SegmentUsage, level: LevelName, by: number): void;
  settled(row: SettledRow): void;
  notice(notice: SegmentNotice): void;
}

/**
 * Merges the output of namespaces into the canonical order: by time, then by namespace, then in order of occurrence.
 *
 * The order depends only on the events of the simulation, not on the number of threads or their timing.
 */
export class ChunkMerger {
  readonly #listener: MergedListener;
  /** Usages by namespace, in the order in which the chunks number them. */
  readonly #usages = new Map<string, SegmentUsage[]>();

  constructor(listener: MergedListener) {
    this.#listener = listener;
  }

  /** @param chunks - Chunks of one time window, one for each namespace, ordered by namespace. */
  merge(chunks: readonly SegmentChunk[]): void {
    const usages = chunks.map((chunk) => this.#usagesOf(chunk));
    const order: { readonly atMs: number; readonly chunk: number; readonly mark: number }[] = [];
    for (const [chunk, { marks }] of chunks.entries())
      for (let mark = 0; mark < marks.length; mark += MARK_LENGTH) order.push({ atMs: marks[mark]!, chunk, mark });
    // The sort is stable: entries with equal times keep the order of the chunks.
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
      this.#listener.level(usages[levels[index]!]!, LEVEL_NAMES[levels[index + 1]!]!, levels[index + 2]!);
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
