import type { FuturesReport } from "@kubewright/timeline/data";

import { seedsToEmbed } from "./futures-report.js";
import { type FutureWorkers, simulateSeeds } from "./simulate-futures.js";

/** The data of a futures page, and its packed timelines by element ID. */
export interface FuturesPage {
  readonly report: FuturesReport;
  readonly timelines: ReadonlyMap<string, string>;
}

export interface TimelineOptions {
  readonly workers: Pick<FutureWorkers, "count">;
  /** Timelines that are not ready when it aborts are omitted. */
  readonly signal: AbortSignal;
  readonly simulate: (seed: number) => Promise<string>;
  readonly onSimulated: (simulated: number, of: number) => void;
}

/** Simulates the seeds of a page's figures again, and embeds their timelines in the page. */
export async function embedTimelines(
  report: Omit<FuturesReport, "embedded">,
  { onSimulated, ...options }: TimelineOptions,
): Promise<FuturesPage> {
  const seeds = seedsToEmbed(report);
  const timelines = new Map<number, string>();
  await simulateSeeds(seeds, {
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
