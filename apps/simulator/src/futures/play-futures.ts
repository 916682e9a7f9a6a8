import { type FuturePlan, type FutureSummary, playFuture } from "./play-future.js";
import type { SeedRange } from "./seeds.js";

/** Threads, or this one, that play futures. */
export interface FutureWorkers {
  /** How many futures may be under way at once. */
  readonly count: number;
  play(plan: FuturePlan, seed: number): Promise<FutureSummary>;
  /** Ends them, also in the middle of their work. */
  close(): Promise<void>;
}

/** Futures one after the other in this thread. */
export const inThisThread: FutureWorkers = {
  count: 1,
  play: (plan, seed) => playFuture(plan, seed),
  close: async () => {},
};

/**
 * Plays a future for every seed. They are told of as they end, in no order that means anything.
 *
 * @returns Whether all were played: not so when `signal` aborts.
 */
export async function playFutures(
  plan: FuturePlan,
  { first, last }: SeedRange,
  {
    workers,
    signal,
    onFuture,
  }: {
    readonly workers: FutureWorkers;
    readonly signal: AbortSignal;
    readonly onFuture: (future: FutureSummary) => void;
  },
): Promise<boolean> {
  let next = first;
  const stopped = new Promise<void>((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener("abort", () => resolve(), { once: true });
  });
  const lane = async (): Promise<void> => {
    while (next <= last && !signal.aborted) {
      const future = await Promise.race([workers.play(plan, next++), stopped]);
      if (future !== undefined) onFuture(future);
    }
  };
  await Promise.all(Array.from({ length: workers.count }, lane));
  return !signal.aborted;
}
