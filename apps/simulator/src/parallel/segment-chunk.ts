import type { LevelName, UsageName } from "../futures/pod-levels.js";
import type { SettledRow } from "../run-outcome.js";
import type { ScenarioEventRecord } from "../trace.js";

/**
 * What one namespace did in a stretch of time. Plain data, in few large pieces: each piece is cut by the ends that the marks
 * tell, and what lies between two marks happened in one instant.
 */
export interface SegmentChunk {
  readonly namespace: string;
  /** For each instant in which anything is told: its time, and the ends of the trace, the levels, the rows and the others. */
  readonly marks: Float64Array;
  /** Lines of the trace; nothing where nobody wants them. */
  readonly trace: string;
  /** Level by level: the place of its usage, of its name in `LEVELS`, and by how much it changed. */
  readonly levels: Float64Array;
  /** Of the usages, by place: those that earlier chunks of the namespace have told come first, and are left out. */
  readonly usages: readonly SegmentUsage[];
  /** Nothing where nobody wants them. */
  readonly settled: readonly SettledRow[];
  readonly notices: readonly SegmentNotice[];
}

/** Pods that have ended and are still there are no business of the peaks, but of PodGC. */
export type SegmentUsage = UsageName | { readonly of: "ended" };

export const LEVELS: readonly LevelName[] = ["pods", "cpuMillis", "memoryBytes"];

/** What is rare. */
export type SegmentNotice =
  | { readonly type: "happening"; readonly record: ScenarioEventRecord }
  /** A happening that was refused. */
  | { readonly type: "problem"; readonly message: string }
  /** Something that namespaces share has been touched: in words. */
  | { readonly type: "touched"; readonly what: string };

/** Numbers of a mark. */
export const MARK_LENGTH = 5;
/** Numbers of a change of a level. */
export const LEVEL_CHANGE_LENGTH = 3;

/** Collects what a namespace does, instant by instant. */
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
  /** Whether there is anything since the last mark. */
  #isMarked = true;

  constructor(namespace: string) {
    this.#namespace = namespace;
  }

  /** What follows happens at this time, which is not before that of what was told before. */
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
    this.#levels.push(place, LEVELS.indexOf(level), by);
  }

  settled(row: SettledRow): void {
    this.#isMarked = false;
    this.#settled.push(row);
  }

  notice(notice: SegmentNotice): void {
    this.#isMarked = false;
    this.#notices.push(notice);
  }

  /** All that has been told since the last time. */
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
