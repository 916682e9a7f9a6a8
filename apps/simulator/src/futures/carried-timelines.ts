import type { FuturesReport } from "@kubewright/timeline/data";

import { seedsToCarry } from "./futures-report.js";
import { type FutureWorkers, playFutures } from "./play-futures.js";

/** A page, and the packed timelines it holds, by the ids of their elements. */
export interface ShownFutures {
  readonly report: FuturesReport;
  readonly timelines: ReadonlyMap<string, string>;
}

export interface TimelineOptions {
  readonly workers: Pick<FutureWorkers, "count">;
  /** Timelines that are not there when it aborts are left out. */
  readonly signal: AbortSignal;
  readonly play: (seed: number) => Promise<string>;
  readonly onPlayed: (played: number, of: number) => void;
}

/** Plays once more those futures that the figures of a page are from, for it to hold their timelines. */
export async function withTimelines(
  report: Omit<FuturesReport, "embedded">,
  { onPlayed, ...options }: TimelineOptions,
): Promise<ShownFutures> {
  const seeds = seedsToCarry(report);
  const played = new Map<number, string>();
  await playFutures(seeds, {
    ...options,
    onPlayed: (packed, seed) => {
      played.set(seed, packed);
      onPlayed(played.size, seeds.length);
    },
  });
  const embedded = seeds.filter((seed) => played.has(seed));
  return {
    report: { ...report, embedded },
    timelines: new Map(embedded.map((seed) => [`seed-${seed}`, played.get(seed)!])),
  };
}
