import { SimulatedSegment, type SegmentResult, type SegmentOptions } from "./simulated-segment.js";
import type { SegmentChunk } from "./segment-chunk.js";
import type { Segment } from "./split-by-namespace.js";

/** Simulates several segments in one thread, interleaved. */
export interface SegmentRunner {
  /** Advances all segments to `untilMs`, in milliseconds since the start. Calls resolve in order. */
  run(untilMs: number): Promise<readonly SegmentChunk[]>;
  /** Ends all segments at their present time. */
  end(): Promise<readonly SegmentResult[]>;
}

/** Threads that simulate segments. */
export interface SegmentRunners {
  readonly runners: readonly SegmentRunner[];
  /** Stops the threads, even during their work. */
  close(): Promise<void>;
}

/** @param assignments - The segments of each runner. */
export type StartSegmentRunners = (
  assignments: readonly (readonly Segment[])[],
  options: SegmentOptions,
) => SegmentRunners;

/** Runs segments in this thread. */
export class ThreadSegmentRunner implements SegmentRunner {
  readonly #segments: readonly SimulatedSegment[];
  readonly #onSegment: (index: number) => void;
  /** The last call; the next call waits for it. */
  #last: Promise<unknown> = Promise.resolve();

  /** @param onSegment - Receives the index of each segment before it advances. */
  constructor(segments: readonly Segment[], options: SegmentOptions, onSegment: (index: number) => void = () => {}) {
    this.#segments = segments.map((segment) => new SimulatedSegment(segment, options));
    this.#onSegment = onSegment;
  }

  run(untilMs: number): Promise<readonly SegmentChunk[]> {
    return this.#each((segment) => segment.run(untilMs));
  }

  end(): Promise<readonly SegmentResult[]> {
    return this.#each((segment) => segment.end());
  }

  #each<T>(operation: (segment: SimulatedSegment) => Promise<T>): Promise<T[]> {
    const result = this.#last.then(async () => {
      const results: T[] = [];
      for (const [index, segment] of this.#segments.entries()) {
        this.#onSegment(index);
        results.push(await operation(segment));
      }
      return results;
    });
    this.#last = result.catch(() => {});
    return result;
  }
}

/**
 * Runs all segments in this thread, one after the other: a thread can store all clusters but advances only one at a
 * time.
 */
export const segmentsInThisThread: StartSegmentRunners = (assignments, options) => {
  let last: Promise<unknown> = Promise.resolve();
  const enqueue = <T>(operation: () => Promise<T>): Promise<T> => {
    const result = last.then(operation);
    last = result.catch(() => {});
    return result;
  };
  const runners = assignments.map((segments) => {
    const runner = new ThreadSegmentRunner(segments, options);
    return { run: (untilMs: number) => enqueue(() => runner.run(untilMs)), end: () => enqueue(() => runner.end()) };
  });
  return { runners, close: async () => {} };
};
