import { SimulatedSegment, type SegmentResult, type SegmentOptions } from "./simulated-segment.js";
import type { SegmentChunk } from "./segment-chunk.js";
import type { Segment } from "./split-by-namespace.js";

/** Plays some of the parts, in turn, in one thread. */
export interface SegmentRunner {
  /** Plays all of them on until then, in milliseconds since the start. Answers in the order in which it is asked. */
  run(untilMs: number): Promise<readonly SegmentChunk[]>;
  /** Ends all of them where they are. */
  end(): Promise<readonly SegmentResult[]>;
}

/** Threads that play parts. */
export interface SegmentRunners {
  readonly runners: readonly SegmentRunner[];
  /** Ends them, also in the middle of their work. */
  close(): Promise<void>;
}

/** @param shares - The parts of each player. */
export type StartSegmentRunners = (
  assignments: readonly (readonly Segment[])[],
  options: SegmentOptions,
) => SegmentRunners;

/** The player of this thread. */
export class ThreadSegmentRunner implements SegmentRunner {
  readonly #segments: readonly SimulatedSegment[];
  readonly #onSegment: (index: number) => void;
  /** What was asked last: the next waits for it. */
  #last: Promise<unknown> = Promise.resolve();

  /** @onSegment onSegment - Told the place of each part before it is played on. */
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

/** All of them in this thread, one after the other: it can hold the clusters of all, but plays one at a time. */
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
