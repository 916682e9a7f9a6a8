import { LEVEL_NAMES, type LevelName } from "../futures/levels.js";
import type { UsageName } from "../futures/pod-levels.js";
import type { SettledRow } from "../run/run-outcome.js";
import type { ScenarioEventRecord } from "../run/trace.js";

/**
 * The output of one namespace in one time window, as plain data in a few large arrays.
 *
 * Each mark gives the end offsets in these arrays. The entries between two marks belong to one instant.
 */
export interface SegmentChunk {
  readonly namespace: string;
  /**
   * For each instant with output five numbers: its time, and the end offsets of `trace`, `levels`, `settled` and
   * `notices`.
   */
  readonly marks: Float64Array;
  /** Lines of the trace; empty when no trace was requested. */
  readonly trace: string;
  /** Level changes, three numbers each: the index of the usage, the index in `LEVEL_NAMES`, and the change. */
  readonly levels: Float64Array;
  /** Usages by index. Usages of earlier chunks of the namespace come first and are omitted. */
  readonly usages: readonly SegmentUsage[];
  /** Empty when no rows were requested. */
  readonly settled: readonly SettledRow[];
  readonly notices: readonly SegmentNotice[];
}

/** A usage of the peaks; or the ended pods that still exist, which only PodGC counts. */
export type SegmentUsage = UsageName | { readonly of: "ended" };

/** Rare output of a segment. */
export type SegmentNotice =
  | { readonly type: "scenarioEvent"; readonly record: ScenarioEventRecord }
  /** A scenario event that was refused. */
  | { readonly type: "problem"; readonly message: string }
  /** The segment used a resource that namespaces share; `what` describes it. */
  | { readonly type: "touched"; readonly what: string };

/** Length of a mark, in numbers. */
export const MARK_LENGTH = 5;
/** Length of a level change, in numbers. */
export const LEVEL_CHANGE_LENGTH = 3;

/** Collects the output of a namespace by instant. */
export class ChunkWriter {
  readonly #namespace: string;
  readonly #places = new Map<SegmentUsage, number>();
  #atMs = Number.NaN;
  #marks: number[] = [];
  #trace: string[] = [];
  #traceLength = 0;
  #levels: number[] = [];
  #usages: SegmentUsage[] = [];
  #settled: SettledRow[] = [];
  #notices: SegmentNotice[] = [];
  /** Whether there is no output since the last mark. */
  #isMarked = true;

  constructor(namespace: string) {
    this.#namespace = namespace;
  }

  /** Sets the time of all following output. Times must not decrease. */
  at(timeMs: number): void {
    if (timeMs === this.#atMs) return;
    this.#mark();
    this.#atMs = timeMs;
  }

  line(text: string): void {
    this.#isMarked = false;
    this.#trace.push(text);
    this.#traceLength += text.length;
  }

  level(usage: SegmentUsage, level: LevelName, by: number): void {
    this.#isMarked = false;
    let place = this.#places.get(usage);
    if (place === undefined) {
      this.#places.set(usage, (place = this.#places.size));
      this.#usages.push(usage);
    }
    this.#levels.push(place, LEVEL_NAMES.indexOf(level), by);
  }

  settled(row: SettledRow): void {
    this.#isMarked = false;
    this.#settled.push(row);
  }

  notice(notice: SegmentNotice): void {
    this.#isMarked = false;
    this.#notices.push(notice);
  }

  /** Returns the output since the last call. */
  take(): SegmentChunk {
    this.#mark();
    const chunk: SegmentChunk = {
      namespace: this.#namespace,
      marks: Float64Array.from(this.#marks),
      trace: this.#trace.join(""),
      levels: Float64Array.from(this.#levels),
      usages: this.#usages,
      settled: this.#settled,
      notices: this.#notices,
    };
    this.#marks = [];
    this.#trace = [];
    this.#traceLength = 0;
    this.#levels = [];
    this.#usages = [];
    this.#settled = [];
    this.#notices = [];
    return chunk;
  }

  #mark(): void {
    if (this.#isMarked) return;
    this.#isMarked = true;
    this.#marks.push(this.#atMs, this.#traceLength, this.#levels.length, this.#settled.length, this.#notices.length);
  }
}
