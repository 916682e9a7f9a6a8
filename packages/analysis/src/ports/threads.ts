import type { FutureWorkers } from "../futures/simulate-futures.js";
import type { StartSegmentRunners } from "../parallel/segment-runners.js";

/** Threads that simulate. */
export interface Threads {
  /** Starts threads that simulate futures: the given number, or one for each core. Default: this thread. */
  readonly futureWorkers?: (count: number | undefined) => Promise<FutureWorkers>;
  /** Starts threads that simulate the namespaces of one cluster. Default: this thread. */
  readonly segmentRunners?: () => Promise<StartSegmentRunners>;
}
