import { type FuturePlan, type FutureSummary, simulateFuture } from "./simulate-future.js";
import { packedTimeline } from "./packed-timeline.js";

/** Simulates futures in other threads or in this one. */
export interface FutureWorkers {
  /** Maximum number of concurrent simulations. */
  readonly count: number;
  /** @param onProgress - Receives the simulated share from time to time. Default: no reports. */
  simulate(plan: FuturePlan, seed: number, onProgress?: (share: number) => void): Promise<FutureSummary>;
  /** Simulates one seed and returns its packed timeline for a page. */
  timeline(plan: FuturePlan, seed: number): Promise<string>;
  /** Stops the threads, even during their work. */
  close(): Promise<void>;
}

/** Simulates one seed after the other in this thread. */
export const inThisThread: FutureWorkers = {
  count: 1,
  simulate: simulateFuture,
  timeline: packedTimeline,
  close: async () => {},
};

interface SimulateOptions<Result> {
  readonly workers: Pick<FutureWorkers, "count">;
  readonly signal: AbortSignal;
  /** @param onProgress - Receives the simulated share from time to time. */
  readonly simulate: (seed: number, onProgress?: (share: number) => void) => Promise<Result>;
  readonly onSimulated: (result: Result, seed: number) => void;
  /** Receives the sum of the shares of all running simulations, from time to time. Default: no reports. */
  readonly onProgress?: (underWay: number) => void;
}

/**
 * Simulates every seed and delivers the results as they finish, in no defined order.
 *
 * @returns Whether all seeds were simulated; false after `signal` aborts.
 */
export async function simulateSeeds<Result extends {}>(
  seeds: Iterable<number>,
  { workers, signal, simulate, onSimulated, onProgress }: SimulateOptions<Result>,
): Promise<boolean> {
  const left = seeds[Symbol.iterator]();
  /** Shares of the running simulations, by seed. */
  const progressBySeed = new Map<number, number>();
  const reportProgress = (): void => onProgress?.([...progressBySeed.values()].reduce((sum, each) => sum + each, 0));
  const setProgress = (seed: number, share: number): void => {
    // A progress message of a thread may arrive after its result.
    if (!progressBySeed.has(seed)) return;
    progressBySeed.set(seed, share);
    reportProgress();
  };
  const lane = async (): Promise<void> => {
    for (let next = left.next(); next.done !== true && !signal.aborted; next = left.next()) {
      const seed = next.value;
      progressBySeed.set(seed, 0);
      const onShare = onProgress && ((share: number) => setProgress(seed, share));
      const result = await unlessAborted(simulate(seed, onShare), signal);
      progressBySeed.delete(seed);
      if (result === undefined) return;
      onSimulated(result, seed);
      reportProgress();
    }
  };
  await Promise.all(Array.from({ length: workers.count }, lane));
  return !signal.aborted;
}

/**
 * Resolves like the promise, or with `undefined` once `signal` aborts.
 *
 * This is not a `Promise.race` with a promise of the signal: while pending, such a promise would keep the result of
 * every other promise in memory.
 */
function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T | undefined> {
  const { promise: first, resolve, reject } = Promise.withResolvers<T | undefined>();
  const stop = (): void => resolve(undefined);
  signal.addEventListener("abort", stop, { once: true });
  if (signal.aborted) stop();
  promise.then(resolve, reject).finally(() => signal.removeEventListener("abort", stop));
  return first;
}
