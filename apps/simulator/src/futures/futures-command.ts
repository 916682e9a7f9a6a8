import { formatTime } from "@kubewright/api";

import { formatDuration } from "../duration.js";
import { InterruptedError } from "../interrupted-error.js";
import { type Io, noProgress } from "../io.js";
import { versionName, versionRemark } from "../kubernetes-version.js";
import { writeSummary } from "../indexed-job/write-summary.js";
import { checkOutputs, openOutput } from "../output-file.js";
import { HtmlReport } from "../report/html-report.js";
import type { CheckReport } from "../reports/check-report.js";
import { junitXml } from "../reports/junit.js";
import { futuresMarkdown } from "../reports/markdown.js";
import { ReportFiles, type ReportFlags, reportOutputs } from "../reports/report-files.js";
import { checkSarif } from "../reports/sarif.js";
import type { Rule } from "../rules/rule.js";
import { RuleTally } from "../rules/rule-tally.js";
import { countedFor, throwViolations } from "../rules/run-rules.js";
import { type RunInputFlags, readRunInput } from "../run-input.js";
import { printable, styleFor } from "../style.js";
import { tryOut } from "../try-out.js";
import { UserError } from "../user-error.js";
import { COUNTED, groupsOf } from "./counted.js";
import { futuresJson } from "./futures-json.js";
import { futuresReport } from "./futures-report.js";
import { FuturesStatistics } from "./futures-statistics.js";
import { futuresText } from "./futures-text.js";
import { LoadBands } from "./load-bands.js";
import { curvePlan } from "./load-curve.js";
import { type Mishap, mishapKey } from "./mishap.js";
import { type ShownFutures, withTimelines } from "./carried-timelines.js";
import { futurePlan } from "./play-future.js";
import { inThisThread, playFutures } from "./play-futures.js";
import { parseNodeSize } from "./node-size.js";
import { countSeeds, parseSeeds, seedsOf, seedsText } from "./seeds.js";
import { parseWorkers } from "./workers.js";

export interface FuturesFlags extends RunInputFlags, ReportFlags {
  readonly seeds: string;
  readonly workers?: string;
  readonly nodeSize?: readonly string[];
  readonly json?: string;
  readonly html?: string;
  readonly summary?: string;
  readonly rules: readonly Rule[];
  /** The command line that plays one of the futures, without its seed. */
  readonly command: string;
}

/** `kubewright run … --seeds A-B`: plays many futures and prints in how many of them what goes wrong. */
export async function futuresCommand(paths: readonly string[], flags: FuturesFlags, io: Io): Promise<void> {
  const seeds = parseSeeds(flags.seeds);
  const workers = parseWorkers(flags.workers);
  const nodeSizes = (flags.nodeSize ?? []).map(parseNodeSize);
  const { rules } = flags;
  for (const { text, what } of rules)
    if (what.type === "change")
      throw new UserError(`--fail-on: ${JSON.stringify(text)} compares one future with another: leave out --seeds`);
  checkOutputs({ "--json": flags.json, "--html": flags.html, ...reportOutputs(flags) }, [
    ...paths,
    ...(flags.scenario === undefined ? [] : [flags.scenario]),
  ]);
  const input = await readRunInput(paths, flags, io);
  const { startMs, durationMs } = input;
  const jsonOnly = flags.json === "-";
  const reports = await ReportFiles.open(flags, io);
  const file = flags.json === undefined || jsonOnly ? undefined : await openOutput("--json", flags.json, io);
  const page = flags.html === undefined ? undefined : await HtmlReport.open(flags.html, io);
  const { problems: mistakes, notes } = await tryOut(input, io.timeZoneData);
  const statistics = new FuturesStatistics();
  const bands = new LoadBands();
  const groups = groupsOf(input);
  const curves = curvePlan(startMs, durationMs, groups);
  const tally = new RuleTally(rules);
  const asked = countedFor(rules);
  const progress = (await io.progress?.()) ?? noProgress;
  const all = countSeeds(seeds);
  const manyFutures = (count: number): string =>
    `${count.toLocaleString("en-US")} ${count === 1 ? "future" : "futures"}`;
  const pool = (await io.futureWorkers?.(workers === undefined ? undefined : Math.min(workers, all))) ?? inThisThread;
  const plan = futurePlan(input, {
    timeZoneData: io.timeZoneData,
    ...asked,
    nodeSizes,
    mishaps: together(COUNTED, asked.mishaps),
    ...(page === undefined ? {} : { curves }),
  });
  const kubernetes = `v${versionName(input.kubernetesVersion)}`;
  let isWhole: boolean;
  let shown: ShownFutures | undefined;
  const showProgress = (underWay: number): void =>
    progress.show(
      (statistics.futures + underWay) / all,
      `${statistics.futures.toLocaleString("en-US")} of ${manyFutures(all)}`,
    );
  try {
    showProgress(0);
    isWhole = await playFutures(seedsOf(seeds), {
      workers: pool,
      signal: io.stopped,
      play: (seed, hear) => pool.play(plan, seed, hear),
      onPlayed: (future, seed) => {
        statistics.add(future);
        tally.add(future);
        if (future.curves !== undefined) bands.add(future.curves, seed);
      },
      // Nobody is told without need.
      ...(progress === noProgress ? {} : { onProgress: showProgress }),
    });
    if (page !== undefined && mistakes.length === 0) {
      const report = futuresReport(
        {
          startMs,
          endMs: startMs + durationMs,
          kubernetes,
          timeZoneData: io.timeZoneData,
          seeds,
          command: flags.command,
          ...(input.scenario?.description === undefined ? {} : { description: input.scenario.description }),
        },
        { statistics, bands, plan: curves, allGroups: groups.length, violations: tally.violations, nodeSizes },
      );
      shown = await withTimelines(report, {
        workers: pool,
        signal: io.stopped,
        play: (seed) => pool.timeline(plan, seed),
        onPlayed: (played, of) => progress.show(played / of, `${played} of ${of} timelines`),
      });
    }
  } finally {
    progress.clear();
    await pool.close();
  }
  const { violations } = tally;
  const json = futuresJson(statistics, {
    startMs,
    durationMs,
    seeds,
    nodeSizes,
    kubernetes,
    timeZoneData: io.timeZoneData,
    ...(rules.length === 0 ? {} : { violations }),
  });
  if (mistakes.length === 0) {
    await file?.write(json);
    await file?.close();
    if (shown !== undefined) await page?.write(shown.report, shown.timelines);
    const title = `${manyFutures(statistics.futures)} of ${formatDuration(durationMs)} from ${formatTime(startMs)}, ${seedsText(seeds)}`;
    const report: CheckReport = {
      title,
      subjects: statistics.groups,
      rules,
      violations,
      remarks: [],
      manifests: input.manifests,
    };
    if (isWhole)
      await writeSummary(
        flags.summary,
        {
          chunkVersion: 1,
          seeds: { from: seeds.first, to: seeds.last },
          played: statistics.futures,
          findings: violations.map(({ rule, object, seed, futures }) => ({
            what: object === undefined ? rule.text : `${rule.text}: ${object}`,
            seed: String(seed),
            count: futures?.broken ?? 1,
          })),
        },
        io,
      );
    await reports.write({
      markdown: () => futuresMarkdown(title, statistics, violations),
      junit: () => junitXml(report),
      sarif: () => checkSarif(report),
    });
  } else {
    await file?.discard();
    await page?.discard();
    await reports.discard();
  }
  for (const note of notes) io.stderr.write(`kubewright: ${printable(note)}\n`);
  if (jsonOnly) io.stdout.write(json);
  else {
    const style = styleFor(io.stdout.hasColours);
    const width = io.stdout.columns || DEFAULT_WIDTH;
    const which = isWhole ? seedsText(seeds) : `of ${seedsText(seeds)}`;
    const title = `${manyFutures(statistics.futures)} of ${formatTime(startMs)} → ${formatTime(startMs + durationMs)} (${formatDuration(durationMs)} each, ${which}${versionRemark(input.kubernetesVersion)})`;
    io.stdout.write(
      `${style.bold("kubewright")}  ${title}\n${style.dim("shares with their 95% intervals; --seed N plays one future alone")}\n\n`,
    );
    if (statistics.futures > 0) io.stdout.write(futuresText(statistics, { width, style, nodeSizes }));
  }
  if (mistakes.length > 0) throw new UserError(mistakes.join("\n"));
  if (!isWhole)
    throw new InterruptedError(`stopped after ${statistics.futures.toLocaleString("en-US")} of ${manyFutures(all)}`);
  throwViolations(violations);
}

/** Each once. */
function together(...mishaps: readonly (readonly Mishap[])[]): Mishap[] {
  return [...new Map(mishaps.flat().map((mishap) => [mishapKey(mishap), mishap])).values()];
}

const DEFAULT_WIDTH = 120;
