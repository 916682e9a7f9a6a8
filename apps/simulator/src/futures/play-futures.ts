import { type FuturePlan, type FutureSummary, playFuture } from "./play-future.js";
import { packedTimeline } from "./packed-timeline.js";

/** Threads, or this one, that play futures. */
export interface FutureWorkers {
  /** How many futures may be under way at once. */
  readonly count: number;
  play(plan: FuturePlan, seed: number): Promise<FutureSummary>;
  /** Plays one for its timeline, packed for a page to hold. */
  timeline(plan: FuturePlan, seed: number): Promise<string>;
  /** Ends them, also in the middle of their work. */
  close(): Promise<void>;
}

/** Futures one after the other in this thread. */
export const inThisThread: FutureWorkers = {
  count: 1,
  play: playFuture,
  timeline: packedTimeline,
  close: async () => {},
};

interface PlayOptions<Played> {
  readonly workers: Pick<FutureWorkers, "count">;
  readonly signal: AbortSignal;
  readonly play: (seed: number) => Promise<Played>;
  readonly onPlayed: (played: Played, seed: number) => void;
}

/**
 * Plays a future for every seed. They are told of as they end, in no order that means anything.
 *
 * @returns Whether all were played: not so when `signal` aborts.
 */
export async function playFutures<Played extends {}>(
  seeds: Iterable<number>,
  { workers, signal, play, onPlayed }: PlayOptions<Played>,
): Promise<boolean> {
  const left = seeds[Symbol.iterator]();
  const stopped = new Promise<void>((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener("abort", () => resolve(), { once: true });
  });
  const lane = async (): Promise<void> => {
    for (let next = left.next(); next.done !== true && !signal.aborted; next = left.next()) {
      const played = await Promise.race([play(next.value), stopped]);
      if (played !== undefined) onPlayed(played, next.value);
    }
  };
  await Promise.all(Array.from({ length: workers.count }, lane));
  return !signal.aborted;
}
