import type { FuturesReport } from "@kubewright/timeline/data";

import { seedsToEmbed } from "./futures-report.js";
import { type FutureWorkers, simulateFutures } from "./simulate-futures.js";

/** A page, and the packed timelines it holds, by the ids of their elements. */
export interface FuturesPage {
  readonly report: FuturesReport;
  readonly timelines: ReadonlyMap<string, string>;
}

export interface TimelineOptions {
  readonly workers: Pick<FutureWorkers, "count">;
  /** Timelines that are not there when it aborts are left out. */
  readonly signal: AbortSignal;
  readonly simulate: (seed: number) => Promise<string>;
  readonly onSimulated: (simulated: number, of: number) => void;
}

/** Plays once more those futures that the figures of a page are from, for it to hold their timelines. */
export async function embedTimelines(
  report: Omit<FuturesReport, "embedded">,
  { onSimulated, ...options }: TimelineOptions,
): Promise<FuturesPage> {
  const seeds = seedsToEmbed(report);
  const timelines = new Map<number, string>();
  await simulateFutures(seeds, {
    ...options,
    onSimulated: (packed, seed) => {
      timelines.set(seed, packed);
      onSimulated(timelines.size, seeds.length);
    },
  });
  const embedded = seeds.filter((seed) => timelines.has(seed));
  return {
    report: { ...report, embedded },
    timelines: new Map(embedded.map((seed) => [`seed-${seed}`, timelines.get(seed)!])),
  };
}
