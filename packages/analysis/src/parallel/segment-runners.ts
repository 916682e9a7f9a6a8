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

/** Starts an operation after all earlier ones have ended. */
type Queue = <T>(operation: () => Promise<T>) => Promise<T>;

function createQueue(): Queue {
  let last: Promise<unknown> = Promise.resolve();
  return (operation) => {
    const result = last.then(operation);
    last = result.catch(() => {});
    return result;
  };
}

interface ThreadSegmentRunnerOptions {
  /** Receives the index of each segment before it advances. */
  readonly onSegment?: (index: number) => void;
  /** Default: a queue of its own. */
  readonly queue?: Queue;
}

/** Runs segments in this thread. */
export class ThreadSegmentRunner implements SegmentRunner {
  readonly #segments: readonly SimulatedSegment[];
  readonly #onSegment: (index: number) => void;
  readonly #queue: Queue;

  constructor(
    segments: readonly Segment[],
    options: SegmentOptions,
    { onSegment = () => {}, queue = createQueue() }: ThreadSegmentRunnerOptions = {},
  ) {
    this.#segments = segments.map((segment) => new SimulatedSegment(segment, options));
    this.#onSegment = onSegment;
    this.#queue = queue;
  }

  run(untilMs: number): Promise<readonly SegmentChunk[]> {
    return this.#each((segment) => segment.run(untilMs));
  }

  end(): Promise<readonly SegmentResult[]> {
    return this.#each((segment) => segment.end());
  }

  #each<T>(operation: (segment: SimulatedSegment) => Promise<T>): Promise<T[]> {
    return this.#queue(async () => {
      const results: T[] = [];
      for (const [index, segment] of this.#segments.entries()) {
        this.#onSegment(index);
        results.push(await operation(segment));
      }
      return results;
    });
  }
}

/**
 * Runs all segments in this thread, one after the other: a thread can store all clusters but advances only one at a
 * time.
 */
export const segmentsInThisThread: StartSegmentRunners = (assignments, options) => {
  const queue = createQueue();
  return {
    runners: assignments.map((segments) => new ThreadSegmentRunner(segments, options, { queue })),
    close: async () => {},
  };
};
