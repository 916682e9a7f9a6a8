import { type FuturePlan, type FutureSummary, simulateFuture } from "./simulate-future.js";
import { packedTimeline } from "./packed-timeline.js";

/** Threads, or this one, that play futures. */
export interface FutureWorkers {
  /** How many futures may be under way at once. */
  readonly count: number;
  /** @param onProgress - Hears now and then which share of the future has been played. Default: nobody does. */
  simulate(plan: FuturePlan, seed: number, onProgress?: (share: number) => void): Promise<FutureSummary>;
  /** Plays one for its timeline, packed for a page to hold. */
  timeline(plan: FuturePlan, seed: number): Promise<string>;
  /** Ends them, also in the middle of their work. */
  close(): Promise<void>;
}

/** Futures one after the other in this thread. */
export const inThisThread: FutureWorkers = {
  count: 1,
  simulate: simulateFuture,
  timeline: packedTimeline,
  close: async () => {},
};

interface SimulateOptions<Result> {
  readonly workers: Pick<FutureWorkers, "count">;
  readonly signal: AbortSignal;
  /** @onProgress onProgress - To be told now and then which share of the future has been played. */
  readonly simulate: (seed: number, onProgress?: (share: number) => void) => Promise<Result>;
  readonly onSimulated: (result: Result, seed: number) => void;
  /** Hears now and then how much of the futures under way has been played, in futures. Default: nobody does. */
  readonly onProgress?: (underWay: number) => void;
}

/**
 * Plays a future for every seed. They are told of as they end, in no order that means anything.
 *
 * @returns Whether all were played: not so when `signal` aborts.
 */
export async function simulateFutures<Result extends {}>(
  seeds: Iterable<number>,
  { workers, signal, simulate, onSimulated, onProgress }: SimulateOptions<Result>,
): Promise<boolean> {
  const left = seeds[Symbol.iterator]();
  /** Of the futures under way. */
  const progressBySeed = new Map<number, number>();
  const reportProgress = (): void => onProgress?.([...progressBySeed.values()].reduce((sum, each) => sum + each, 0));
  const setProgress = (seed: number, share: number): void => {
    // What a thread said before it was done may come after that.
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
 * What a promise comes to, or `undefined` once `signal` aborts. Not `Promise.race` with a promise of that: as long as it is
 * pending it would keep what each of the others came to.
 */
function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T | undefined> {
  const { promise: first, resolve, reject } = Promise.withResolvers<T | undefined>();
  const stop = (): void => resolve(undefined);
  signal.addEventListener("abort", stop, { once: true });
  if (signal.aborted) stop();
  promise.then(resolve, reject).finally(() => signal.removeEventListener("abort", stop));
  return first;
}
