import { curvePlan } from "../futures/load-curve.js";
import { DEFAULT_INCIDENTS, groupsOf } from "../futures/default-incidents.js";
import { futuresReport } from "../futures/futures-report.js";
import { FuturesStatistics } from "../futures/futures-statistics.js";
import { futuresText } from "../futures/futures-text.js";
import { LoadBands } from "../futures/load-bands.js";
import { futurePlan, simulateFuture } from "../futures/simulate-future.js";
import { simulateSeeds } from "../futures/simulate-futures.js";
import { type SeedRange, countSeeds, parseSeeds, seedsOf } from "../futures/seeds.js";
import { versionName } from "../input/kubernetes-version.js";
import { styleFor } from "../text/style.js";
import type { FuturesResult } from "./simulate-futures.js";
import type { SimulationRequestOptions, SimulationRequest } from "./simulation-request.js";
import { type ReadRequest, commandOf, tryRequest } from "./read-request.js";

/** Implements `simulateFutures`, which loads this module. */
export async function countFutures(
  request: SimulationRequest & { readonly seeds: string },
  {
    onProgress,
    signal = new AbortController().signal,
    timeZoneData = "unknown",
    ...options
  }: SimulationRequestOptions = {},
): Promise<FuturesResult> {
  const read = await tryRequest(request, options);
  const { problems } = read;
  const command = `${commandOf(read)} --seeds ${request.seeds}`;
  const seeds = seedsOfRequest(request.seeds, read);
  const { input } = read;
  if (input === undefined || seeds === undefined) return { summary: "", problems: problems.all, command };
  const { startMs, durationMs, scenario, kubernetesVersion } = input;
  const groups = groupsOf(input);
  const curves = curvePlan(startMs, durationMs, groups);
  const plan = futurePlan(input, { timeZoneData, selections: [], nodeSizes: [], incidents: DEFAULT_INCIDENTS, curves });
  const statistics = new FuturesStatistics();
  const bands = new LoadBands();
  await simulateSeeds(seedsOf(seeds), {
    workers: { count: 1 },
    signal,
    simulate: (seed, onProgress) => simulateFuture(plan, seed, onProgress, signal),
    onSimulated: (future, seed) => {
      statistics.add(future);
      if (future.curves !== undefined) bands.add(future.curves, seed);
    },
    onProgress: (underWay) => onProgress?.((statistics.futures + underWay) / countSeeds(seeds)),
  });
  signal.throwIfAborted();
  const report = futuresReport(
    {
      startMs,
      endMs: startMs + durationMs,
      kubernetes: `v${versionName(kubernetesVersion)}`,
      timeZoneData,
      seeds,
      command: commandOf(read),
      ...(scenario?.description === undefined ? {} : { description: scenario.description }),
    },
    { statistics, bands, plan: curves, allGroups: groups.length, violations: [], nodeSizes: [] },
  );
  return {
    report: { ...report, embedded: [] },
    summary: futuresText(statistics, { width: WIDTH, style: styleFor(false), nodeSizes: [] }),
    problems: problems.all,
    command,
  };
}

function seedsOfRequest(text: string, { problems }: ReadRequest): SeedRange | undefined {
  try {
    return parseSeeds(text);
  } catch (error) {
    problems.addError(error);
    return undefined;
  }
}

/** Characters per line of the summary. */
const WIDTH = 120;
