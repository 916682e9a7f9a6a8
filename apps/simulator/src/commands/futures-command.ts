import { UserError } from "@kubewright/analysis/errors";
import { type Rule, type Violation, RuleCounts, countsNeededFor, violationText } from "@kubewright/analysis/fail-on";
import {
  type FuturesPage,
  type Incident,
  type SeedRange,
  DEFAULT_INCIDENTS,
  FuturesStatistics,
  LoadBands,
  countSeeds,
  curvePlan,
  embedTimelines,
  futurePlan,
  futuresJson,
  futuresReport,
  futuresText,
  groupsOf,
  inThisThread,
  incidentKey,
  parseNodeSize,
  parseSeeds,
  seedsOf,
  seedsText,
  simulateSeeds,
} from "@kubewright/analysis/futures";
import { readRunInput, repeatRemark, startTime, versionName, versionRemark } from "@kubewright/analysis/input";
import { silentProgress } from "@kubewright/analysis/ports";
import { type CheckReport, futuresMarkdown, reportOutputs, writeReports } from "@kubewright/analysis/reports";
import { foundText, validateInput } from "@kubewright/analysis/run";
import { formatDuration } from "@kubewright/analysis/time";
import { formatTime } from "@kubewright/api";
import { htmlPage, pageAssets } from "@kubewright/analysis/page";

import type { ChunkSummary } from "../indexed-job/chunk-summary.js";
import { writeSummary } from "../indexed-job/write-summary.js";
import { type CheckedRunFlags, runFiles } from "../options/run-flags.js";
import { parseWorkers } from "../options/workers.js";
import type { CommandContext, CommandResult } from "../shell/command.js";

export interface FuturesFlags extends CheckedRunFlags {
  readonly seeds: string;
  /** Returns the command line that simulates one seed with this start, without the seed. Default: the given start. */
  readonly commandFrom: (start?: string) => string;
}

/** `kubewright run … --seeds A-B`: simulates many seeds and prints the share of them in which each incident occurs. */
export async function futuresCommand({
  args: paths,
  flags,
  io,
  outputs,
  format,
  note,
}: CommandContext<FuturesFlags>): Promise<CommandResult> {
  const seeds = parseSeeds(flags.seeds);
  const workers = parseWorkers(flags.workers);
  const nodeSizes = (flags.nodeSize ?? []).map(parseNodeSize);
  const { rules } = flags;
  rejectChangeRules(rules);
  outputs.declare({ "--json": flags.json, "--html": flags.html, ...reportOutputs(flags) }, runFiles(paths, flags));
  const input = await readRunInput(paths, flags, io);
  const { startMs, durationMs, repeat } = input;
  const command = flags.commandFrom(repeat === undefined ? undefined : startTime(startMs));
  await outputs.open();
  const hasPage = flags.html !== undefined;
  const { problems, notes, found } = await validateInput(input, io.timeZoneData);
  const statistics = new FuturesStatistics();
  const bands = new LoadBands();
  const groups = groupsOf(input);
  const curves = curvePlan(startMs, durationMs, groups);
  const ruleCounts = new RuleCounts(rules);
  const asked = countsNeededFor(rules);
  const progress = (await io.progress?.()) ?? silentProgress;
  const all = countSeeds(seeds);
  const pool = (await io.futureWorkers?.(workers === undefined ? undefined : Math.min(workers, all))) ?? inThisThread;
  const plan = futurePlan(input, {
    timeZoneData: io.timeZoneData,
    ...asked,
    nodeSizes,
    incidents: withoutDuplicates(DEFAULT_INCIDENTS, asked.incidents),
    ...(hasPage ? { curves } : {}),
  });
  const kubernetes = `v${versionName(input.kubernetesVersion)}`;
  let isComplete: boolean;
  let shown: FuturesPage | undefined;
  const doneText = (): string => `${statistics.futures.toLocaleString("en-US")} of ${manyFutures(all)}`;
  const showProgress = (underWay: number): void => progress.show((statistics.futures + underWay) / all, doneText());
  try {
    showProgress(0);
    isComplete = await simulateSeeds(seedsOf(seeds), {
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
    if (hasPage && problems.length === 0) {
      const { description } = input.scenario ?? {};
      const subject = { startMs, endMs: startMs + durationMs, kubernetes, timeZoneData: io.timeZoneData, seeds };
      const report = futuresReport(
        { ...subject, command, ...(description === undefined ? {} : { description }) },
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
  await outputs.write("--json", () => json);
  const title = `${manyFutures(statistics.futures)} of ${formatDuration(durationMs)} from ${formatTime(startMs)}, ${seedsText(seeds)}`;
  if (problems.length === 0) {
    if (shown !== undefined) {
      const { report, timelines } = shown;
      await outputs.write("--html", async () => htmlPage(await pageAssets(io), report, timelines));
    }
    if (isComplete) await writeSummary(flags.summary, chunkSummary(seeds, statistics.futures, violations), io);
    const report: CheckReport = {
      title,
      subjects: statistics.groups,
      rules,
      violations,
      highlights: [],
      manifests: input.manifests,
    };
    await writeReports(outputs, report, () => futuresMarkdown(title, statistics, violations));
  }
  note(...notes);
  const which = `${isComplete ? "" : "of "}${seedsText(seeds)}`;
  const heading = `${manyFutures(statistics.futures)} of ${formatTime(startMs)} → ${formatTime(startMs + durationMs)} (${formatDuration(durationMs)} each, ${which}${versionRemark(input.kubernetesVersion)}${repeatRemark(repeat)})`;
  const { style } = format;
  return {
    text: `${style.bold("kubewright")}  ${heading}\n${foundText(found)}\n${style.dim("shares with their 95% intervals; --seed N simulates one future alone")}\n\n${statistics.futures > 0 ? futuresText(statistics, { ...format, nodeSizes }) : ""}`,
    problems,
    interrupted: isComplete ? undefined : `stopped after ${doneText()}`,
    findings: violations.map(violationText),
  };
}

function manyFutures(count: number): string {
  return `${count.toLocaleString("en-US")} ${count === 1 ? "future" : "futures"}`;
}

function chunkSummary(seeds: SeedRange, simulated: number, violations: readonly Violation[]): ChunkSummary {
  return {
    chunkVersion: 1,
    seeds: { from: seeds.first, to: seeds.last },
    simulated,
    findings: violations.map(({ rule, object, seed, futures }) => ({
      what: object === undefined ? rule.text : `${rule.text}: ${object}`,
      seed: String(seed),
      count: futures?.broken ?? 1,
    })),
  };
}

/** @throws UserError for rules that compare two runs. */
function rejectChangeRules(rules: readonly Rule[]): void {
  for (const { text, condition } of rules)
    if (condition.type === "change")
      throw new UserError(`--fail-on: ${JSON.stringify(text)} compares one future with another: leave out --seeds`);
}

/** Removes duplicates. */
function withoutDuplicates(...incidents: readonly (readonly Incident[])[]): Incident[] {
  return [...new Map(incidents.flat().map((incident) => [incidentKey(incident), incident])).values()];
}
