import type { FuturesReport } from "@kubewright/timeline/data";

import { curvePlan } from "../futures/load-curve.js";
import { COUNTED, groupsOf } from "../futures/counted.js";
import { futuresReport } from "../futures/futures-report.js";
import { FuturesStatistics } from "../futures/futures-statistics.js";
import { futuresText } from "../futures/futures-text.js";
import { LoadBands } from "../futures/load-bands.js";
import { futurePlan, playFuture } from "../futures/play-future.js";
import { playFutures as playAll } from "../futures/play-futures.js";
import { type SeedRange, countSeeds, parseSeeds, seedsOf } from "../futures/seeds.js";
import { versionName } from "../kubernetes-version.js";
import { styleFor } from "../style.js";
import type { PlayOptions, PlayRequest } from "./play-request.js";
import type { Problem } from "./problem.js";
import { type ReadRequest, tryRequest } from "./read-request.js";

/** What became of many futures. */
export interface PlayedFutures {
  /** What the page of many futures shows, without timelines. Absent when nothing could be played: the problems say why. */
  readonly report?: FuturesReport;
  /** What `kubewright run --seeds` prints below its title, without colours. */
  readonly summary: string;
  /** In the order of the texts. */
  readonly problems: readonly Problem[];
  /** The command that does the same. */
  readonly command: string;
}

/**
 * Plays a request once for every seed, one after the other.
 *
 * @param request - `seeds` as `--seeds` takes them: `1-100`.
 */
export async function playFutures(
  request: PlayRequest & { readonly seeds: string },
  { onProgress, signal = new AbortController().signal, timeZoneData = "unknown" }: PlayOptions = {},
): Promise<PlayedFutures> {
  const read = await tryRequest(request);
  const { texts, problems } = read;
  const command = `${texts.command} --seeds ${request.seeds}`;
  const seeds = seedsOfRequest(request.seeds, read);
  const { input } = read;
  if (input === undefined || seeds === undefined) return { summary: "", problems: problems.all, command };
  const { startMs, durationMs, scenario, kubernetesVersion } = input;
  const groups = groupsOf(input);
  const curves = curvePlan(startMs, durationMs, groups);
  const plan = futurePlan(input, { timeZoneData, selections: [], nodeSizes: [], mishaps: COUNTED, curves });
  const statistics = new FuturesStatistics();
  const bands = new LoadBands();
  await playAll(seedsOf(seeds), {
    workers: { count: 1 },
    signal,
    play: (seed, hear) => playFuture(plan, seed, hear, signal),
    onPlayed: (future, seed) => {
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
      command: texts.command,
      ...(scenario?.description === undefined ? {} : { description: scenario.description }),
    },
    { statistics, bands, plan: curves, allGroups: groups.length, violations: [], nodeSizes: [] },
  );
  return {
    report: { ...report, carried: [] },
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

/** Of a line of the summary. */
const WIDTH = 120;
