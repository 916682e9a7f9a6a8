import { type FuturePlan, type FutureSummary, playFuture } from "./play-future.js";
import { packedTimeline } from "./packed-timeline.js";

/** Threads, or this one, that play futures. */
export interface FutureWorkers {
  /** How many futures may be under way at once. */
  readonly count: number;
  /** @param onProgress - Hears now and then which share of the future has been played. Default: nobody does. */
  play(plan: FuturePlan, seed: number, onProgress?: (share: number) => void): Promise<FutureSummary>;
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
  /** @param hear - To be told now and then which share of the future has been played. */
  readonly play: (seed: number, hear?: (share: number) => void) => Promise<Played>;
  readonly onPlayed: (played: Played, seed: number) => void;
  /** Hears now and then how much of the futures under way has been played, in futures. Default: nobody does. */
  readonly onProgress?: (underWay: number) => void;
}

/**
 * Plays a future for every seed. They are told of as they end, in no order that means anything.
 *
 * @returns Whether all were played: not so when `signal` aborts.
 */
export async function playFutures<Played extends {}>(
  seeds: Iterable<number>,
  { workers, signal, play, onPlayed, onProgress }: PlayOptions<Played>,
): Promise<boolean> {
  const left = seeds[Symbol.iterator]();
  /** Of the futures under way. */
  const shares = new Map<number, number>();
  const tell = (): void => onProgress?.([...shares.values()].reduce((sum, each) => sum + each, 0));
  const tellShare = (seed: number, share: number): void => {
    // What a thread said before it was done may come after that.
    if (!shares.has(seed)) return;
    shares.set(seed, share);
    tell();
  };
  const lane = async (): Promise<void> => {
    for (let next = left.next(); next.done !== true && !signal.aborted; next = left.next()) {
      const seed = next.value;
      shares.set(seed, 0);
      const hear = onProgress && ((share: number) => tellShare(seed, share));
      const played = await unlessAborted(play(seed, hear), signal);
      shares.delete(seed);
      if (played === undefined) return;
      onPlayed(played, seed);
      tell();
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
