import { formatTime } from "@kubewright/api";

import {
  simulateNamespaces,
  type DigestGroup,
  findHighlights,
  simulateCluster,
  RunOutputs,
  runText,
} from "@kubewright/analysis/run";
import { compareCommand } from "./compare-command.js";
import { formatDuration } from "@kubewright/analysis/time";
import { InterruptedError, UserError } from "@kubewright/analysis/errors";
import type { Io } from "../io/io.js";
import { silentProgress, checkOutputs } from "@kubewright/analysis/ports";
import { type IndexedJobFlags, checkIndexedJob } from "../indexed-job/indexed-job-flags.js";
import { RecordedInputs } from "../indexed-job/recorded-inputs.js";
import { seedsOfChunk } from "../indexed-job/chunk.js";
import { indexedRun } from "../indexed-job/indexed-run.js";
import { futuresCommand } from "./futures-command.js";
import { parseSeeds, seedCommand } from "@kubewright/analysis/futures";
import { parseWorkers } from "../options/workers.js";
import { readProjectFile, type RunInput, type RunInputFlags, readRunInput } from "@kubewright/analysis/input";
import {
  type CheckReport,
  junitXml,
  runMarkdown,
  ReportFiles,
  type ReportFlags,
  reportOutputs,
  checkSarif,
  parseRunsFormat,
} from "@kubewright/analysis/reports";
import {
  type Rule,
  parseRules,
  rejectShareRules,
  countsNeededFor,
  throwViolations,
  violationsOf,
} from "@kubewright/analysis/fail-on";
import { printable, styleFor } from "@kubewright/analysis/text";

export interface RunFlags extends RunInputFlags, ReportFlags, IndexedJobFlags {
  readonly json?: string;
  readonly html?: string;
  readonly runs?: string;
  readonly against?: string;
  readonly againstKubernetes?: string;
  readonly seeds?: string;
  readonly workers?: string;
  readonly nodeSize?: readonly string[];
  readonly failOn?: readonly string[];
  readonly ics?: string;
}

/** @throws UserError for combinations of flags for one future, for a comparison, and for many futures. */
function checkIncompatibleFlags(flags: RunFlags): void {
  if (flags.seeds === undefined) {
    for (const [flag, value] of [
      ["--against", flags.against],
      ["--against-kubernetes", flags.againstKubernetes],
    ] as const)
      if (flags.workers !== undefined && value !== undefined)
        throw new UserError(
          `--workers simulates one cluster on several threads, and ${flag} compares two: leave out one of them`,
        );
    for (const [flag, value] of [
      ["--indexed-job", flags.indexedJob],
      ["--summary", flags.summary],
    ] as const)
      if (value !== undefined)
        throw new UserError(`${flag} needs many futures: give a range with --seeds, for example --seeds 1-1000`);
    if (flags.nodeSize !== undefined)
      throw new UserError(
        "--node-size counts the nodes that are enough in many futures: give a range with --seeds, for example --seeds 1-1000",
      );
    return;
  }
  for (const [flag, value, explanation] of [
    ["--seed", flags.seed, "simulates one of them: leave out one of the two"],
    ["--runs", flags.runs, ONE_FUTURE],
    ["--ics", flags.ics, ONE_FUTURE],
    ["--against", flags.against, ONE_COMPARISON],
    ["--against-kubernetes", flags.againstKubernetes, ONE_COMPARISON],
  ] as const)
    if (value !== undefined) throw new UserError(`--seeds simulates many futures, and ${flag} ${explanation}`);
}

const ONE_FUTURE =
  "lists the runs of one: simulate that with --seed N instead, for example a worst one that --seeds names";
const ONE_COMPARISON = "compares two: use --seed N instead, or simulate each side with --seeds";

/** Uses the input of the project file when the command line has none. Flags override its other settings. */
async function withProjectSettings(
  paths: readonly string[],
  flags: RunFlags,
  io: Io,
): Promise<{ readonly paths: readonly string[]; readonly flags: RunFlags }> {
  if (paths.length > 0 || flags.scenario !== undefined || flags.fromCluster) return { paths, flags };
  const project = await readProjectFile(io);
  if (project === undefined) return { paths, flags };
  const { input, seed, seeds, workloads, failOn, lint: _lint, ...same } = project;
  return {
    paths: input ?? (project.scenario === undefined ? ["."] : []),
    flags: {
      ...same,
      ...(seed === undefined || flags.seeds !== undefined ? {} : { seed: String(seed) }),
      ...(seeds === undefined || flags.seed !== undefined ? {} : { seeds }),
      ...(failOn === undefined ? {} : { failOn: flags.seed === undefined ? failOn : withoutShares(failOn) }),
      ...(typeof workloads === "string" ? { workloads } : workloads && { workloadEntries: workloads }),
      ...flags,
    },
  };
}

/** Returns the rules of a project that apply to a single future. */
function withoutShares(rules: readonly string[]): string[] {
  return parseRules(rules)
    .filter(({ maxShare }) => maxShare === undefined)
    .map(({ text }) => text);
}

/** @throws UserError for rules that do not apply to a single future. */
function checkRules(rules: readonly Rule[]): void {
  for (const { text, condition } of rules)
    if (condition.type === "change")
      throw new UserError(
        `--fail-on: ${JSON.stringify(text)} compares two runs: add --against FILE or --against-kubernetes V`,
      );
  rejectShareRules(rules, "give a range with --seeds");
}

/** `kubewright run`: simulates manifests in virtual time and prints the results. */
export async function runCommand(givenPaths: readonly string[], givenFlags: RunFlags, io: Io): Promise<void> {
  checkIndexedJob(givenFlags);
  const recorded = givenFlags.indexedJob === undefined ? undefined : new RecordedInputs(io);
  const { paths, flags } = await withProjectSettings(givenPaths, givenFlags, recorded?.io ?? io);
  checkIncompatibleFlags(flags);
  const seeds = seedsOfChunk(flags, parseSeeds);
  const rules = parseRules(flags.failOn ?? []);
  if (recorded !== undefined && seeds !== undefined)
    return indexedRun({ paths: givenPaths, flags: givenFlags }, { paths, flags: { ...flags, seeds } }, recorded, io);
  if (seeds !== undefined)
    return futuresCommand(paths, { ...flags, seeds, rules, command: seedCommand(givenPaths, givenFlags) }, io);
  if (flags.against !== undefined || flags.againstKubernetes !== undefined)
    return compareCommand(paths, { ...flags, rules }, io);
  checkRules(rules);
  const workers = parseWorkers(flags.workers);
  if (flags.runs !== undefined) parseRunsFormat(flags.runs);
  checkOutputs(
    { "--json": flags.json, "--html": flags.html, "--runs": flags.runs, "--ics": flags.ics, ...reportOutputs(flags) },
    [...paths, ...(flags.scenario === undefined ? [] : [flags.scenario])],
  );
  const input = await readRunInput(paths, flags, io);
  const { startMs, durationMs, seed } = input;
  const openOutputs = (mayBeDiscarded: boolean): Promise<RunOutputs> =>
    RunOutputs.open(flags, io, { startMs, mayBeDiscarded });
  let outputs = await openOutputs(workers !== undefined);
  const reports = await ReportFiles.open(flags, io);
  const progress = (await io.progress?.()) ?? silentProgress;
  const request = { input, counted: countsNeededFor(rules), io, progress };
  const parallelRun = workers === undefined ? undefined : await simulateNamespaces({ ...request, outputs, workers });
  if (parallelRun?.shared !== undefined) {
    await outputs.discardAll();
    outputs = await openOutputs(false);
  }
  const simulated = parallelRun?.simulated ?? (await simulateCluster({ ...request, outputs }));
  const { outcome, peaks, reachedMs, problems } = simulated;
  const notes = [
    ...(parallelRun?.shared === undefined
      ? []
      : [`--workers: simulated on one thread, as without --workers: ${parallelRun.shared}`]),
    ...simulated.notes,
  ];
  const { groups, counted } = outcome;
  const violations = rules.length === 0 ? [] : violationsOf(rules, { seed, groups: counted, peaks });
  // A run with refused objects does not replace existing files.
  if (problems.length === 0) {
    await outputs.trace?.close();
    if (simulated.page !== undefined) await outputs.report?.write(simulated.page);
    await outputs.runs?.close();
    const { calendar } = outputs;
    await calendar?.close();
    if (calendar !== undefined && calendar.omitted > 0)
      notes.push(`--ics: ${calendar.omitted.toLocaleString("en-US")} runs are omitted: a calendar has at most 50,000`);
    await writeReports(reports, { input, groups, rules, violations });
  } else {
    await outputs.discard();
    await reports.discard();
  }
  for (const note of notes) io.stderr.write(`kubewright: ${printable(note)}\n`);
  const interrupted = io.stopped.aborted
    ? new InterruptedError(`stopped after ${formatDuration(reachedMs)} of ${formatDuration(durationMs)}`)
    : undefined;
  const finish = (): void => {
    if (problems.length > 0) throw new UserError(problems.join("\n"));
    if (interrupted !== undefined) throw interrupted;
    throwViolations(violations);
  };
  if (flags.json === "-") return finish();
  const simulatedMs = interrupted === undefined ? durationMs : reachedMs;
  io.stdout.write(
    runText(
      { ...simulated, ...outcome, input, simulatedMs },
      { style: styleFor(io.stdout.hasColours), width: io.stdout.columns || DEFAULT_WIDTH },
    ),
  );
  finish();
}

async function writeReports(
  files: ReportFiles,
  {
    input,
    groups,
    rules,
    violations,
  }: Pick<CheckReport, "rules" | "violations"> & {
    readonly input: RunInput;
    readonly groups: readonly DigestGroup[];
  },
): Promise<void> {
  const { startMs, durationMs, seed, manifests } = input;
  const title = `${formatDuration(durationMs)} from ${formatTime(startMs)}, seed ${seed}`;
  const highlights = findHighlights(groups, startMs);
  const report: CheckReport = {
    title,
    subjects: groups.map(({ group }) => group),
    rules,
    violations,
    highlights,
    manifests,
  };
  await files.write({
    markdown: () => runMarkdown(title, groups, { violations, highlights }),
    junit: () => junitXml(report),
    sarif: () => checkSarif(report),
  });
}

const DEFAULT_WIDTH = 120;
