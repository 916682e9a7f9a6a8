import { formatTime } from "@kubewright/api";

import { formatDuration } from "@kubewright/analysis/time";
import { InterruptedError, UserError } from "@kubewright/analysis/errors";
import type { Io } from "../io/io.js";
import { silentProgress, checkOutputs, openOutput } from "@kubewright/analysis/ports";
import { versionName, versionRemark, type RunInputFlags, readRunInput } from "@kubewright/analysis/input";
import { writeSummary } from "../indexed-job/write-summary.js";
import {
  HtmlReport,
  type CheckReport,
  junitXml,
  futuresMarkdown,
  ReportFiles,
  type ReportFlags,
  reportOutputs,
  checkSarif,
} from "@kubewright/analysis/reports";
import { type Rule, RuleCounts, countsNeededFor, throwViolations } from "@kubewright/analysis/fail-on";
import { printable, styleFor } from "@kubewright/analysis/text";
import { validateInput } from "@kubewright/analysis/run";
import {
  DEFAULT_INCIDENTS,
  groupsOf,
  futuresJson,
  futuresReport,
  FuturesStatistics,
  futuresText,
  LoadBands,
  curvePlan,
  type Incident,
  incidentKey,
  type FuturesPage,
  embedTimelines,
  futurePlan,
  inThisThread,
  simulateFutures,
  parseNodeSize,
  countSeeds,
  parseSeeds,
  seedsOf,
  seedsText,
} from "@kubewright/analysis/futures";
import { parseWorkers } from "../options/workers.js";

export interface FuturesFlags extends RunInputFlags, ReportFlags {
  readonly seeds: string;
  readonly workers?: string;
  readonly nodeSize?: readonly string[];
  readonly json?: string;
  readonly html?: string;
  readonly summary?: string;
  readonly rules: readonly Rule[];
  /** The command line that simulates one seed, without the seed. */
  readonly command: string;
}

/** `kubewright run … --seeds A-B`: simulates many seeds and prints the share of them in which each incident occurs. */
export async function futuresCommand(paths: readonly string[], flags: FuturesFlags, io: Io): Promise<void> {
  const seeds = parseSeeds(flags.seeds);
  const workers = parseWorkers(flags.workers);
  const nodeSizes = (flags.nodeSize ?? []).map(parseNodeSize);
  const { rules } = flags;
  for (const { text, condition } of rules)
    if (condition.type === "change")
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
  const { problems, notes } = await validateInput(input, io.timeZoneData);
  const statistics = new FuturesStatistics();
  const bands = new LoadBands();
  const groups = groupsOf(input);
  const curves = curvePlan(startMs, durationMs, groups);
  const ruleCounts = new RuleCounts(rules);
  const asked = countsNeededFor(rules);
  const progress = (await io.progress?.()) ?? silentProgress;
  const all = countSeeds(seeds);
  const manyFutures = (count: number): string =>
    `${count.toLocaleString("en-US")} ${count === 1 ? "future" : "futures"}`;
  const pool = (await io.futureWorkers?.(workers === undefined ? undefined : Math.min(workers, all))) ?? inThisThread;
  const plan = futurePlan(input, {
    timeZoneData: io.timeZoneData,
    ...asked,
    nodeSizes,
    incidents: withoutDuplicates(DEFAULT_INCIDENTS, asked.incidents),
    ...(page === undefined ? {} : { curves }),
  });
  const kubernetes = `v${versionName(input.kubernetesVersion)}`;
  let isComplete: boolean;
  let shown: FuturesPage | undefined;
  const showProgress = (underWay: number): void =>
    progress.show(
      (statistics.futures + underWay) / all,
      `${statistics.futures.toLocaleString("en-US")} of ${manyFutures(all)}`,
    );
  try {
    showProgress(0);
    isComplete = await simulateFutures(seedsOf(seeds), {
      workers: pool,
      signal: io.stopped,
      simulate: (seed, onProgress) => pool.simulate(plan, seed, onProgress),
      onSimulated: (future, seed) => {
        statistics.add(future);
        ruleCounts.add(future);
        if (future.curves !== undefined) bands.add(future.curves, seed);
      },
      // Without a progress display, progress is not reported.
      ...(progress === silentProgress ? {} : { onProgress: showProgress }),
    });
    if (page !== undefined && problems.length === 0) {
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
        { statistics, bands, plan: curves, allGroups: groups.length, violations: ruleCounts.violations, nodeSizes },
      );
      shown = await embedTimelines(report, {
        workers: pool,
        signal: io.stopped,
        simulate: (seed) => pool.timeline(plan, seed),
        onSimulated: (simulated, of) => progress.show(simulated / of, `${simulated} of ${of} timelines`),
      });
    }
  } finally {
    progress.clear();
    await pool.close();
  }
  const { violations } = ruleCounts;
  const json = futuresJson(statistics, {
    startMs,
    durationMs,
    seeds,
    nodeSizes,
    kubernetes,
    timeZoneData: io.timeZoneData,
    ...(rules.length === 0 ? {} : { violations }),
  });
  if (problems.length === 0) {
    await file?.write(json);
    await file?.close();
    if (shown !== undefined) await page?.write(shown.report, shown.timelines);
    const title = `${manyFutures(statistics.futures)} of ${formatDuration(durationMs)} from ${formatTime(startMs)}, ${seedsText(seeds)}`;
    const report: CheckReport = {
      title,
      subjects: statistics.groups,
      rules,
      violations,
      highlights: [],
      manifests: input.manifests,
    };
    if (isComplete)
      await writeSummary(
        flags.summary,
        {
          chunkVersion: 1,
          seeds: { from: seeds.first, to: seeds.last },
          simulated: statistics.futures,
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
    const which = isComplete ? seedsText(seeds) : `of ${seedsText(seeds)}`;
    const title = `${manyFutures(statistics.futures)} of ${formatTime(startMs)} → ${formatTime(startMs + durationMs)} (${formatDuration(durationMs)} each, ${which}${versionRemark(input.kubernetesVersion)})`;
    io.stdout.write(
      `${style.bold("kubewright")}  ${title}\n${style.dim("shares with their 95% intervals; --seed N simulates one future alone")}\n\n`,
    );
    if (statistics.futures > 0) io.stdout.write(futuresText(statistics, { width, style, nodeSizes }));
  }
  if (problems.length > 0) throw new UserError(problems.join("\n"));
  if (!isComplete)
    throw new InterruptedError(`stopped after ${statistics.futures.toLocaleString("en-US")} of ${manyFutures(all)}`);
  throwViolations(violations);
}

/** Removes duplicates. */
function withoutDuplicates(...incidents: readonly (readonly Incident[])[]): Incident[] {
  return [...new Map(incidents.flat().map((incident) => [incidentKey(incident), incident])).values()];
}

const DEFAULT_WIDTH = 120;
