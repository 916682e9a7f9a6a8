import { formatTime } from "@kubewright/api";

import { atOnceOf } from "./at-once.js";
import { compareCommand } from "./compare/compare-command.js";
import { type DigestGroup, RunDigest } from "./digest/run-digest.js";
import { worthALook } from "./digest/worth-a-look.js";
import { formatDuration } from "./duration.js";
import { Findings } from "./input/findings.js";
import { InterruptedError } from "./interrupted-error.js";
import { type Io, type OutputFile, noProgress } from "./io.js";
import { checkOutputs, openOutput } from "./output-file.js";
import { type IndexedJobFlags, checkIndexedJob } from "./indexed-job/indexed-job-flags.js";
import { RecordedInputs } from "./indexed-job/recorded-inputs.js";
import { seedsOfChunk } from "./indexed-job/chunk.js";
import { indexedRun } from "./indexed-job/indexed-run.js";
import { futuresCommand } from "./futures/futures-command.js";
import { PodPeaks } from "./futures/pod-peaks.js";
import { NodePools } from "./node-pools.js";
import { parseSeeds } from "./futures/seeds.js";
import { seedCommand } from "./futures/seed-command.js";
import { readProjectFile } from "./project-file.js";
import { HtmlReport, ReportRecorder } from "./report/html-report.js";
import { CalendarFile } from "./reports/calendar-file.js";
import type { CheckReport } from "./reports/check-report.js";
import { junitXml } from "./reports/junit.js";
import { runMarkdown } from "./reports/markdown.js";
import { ReportFiles, type ReportFlags, reportOutputs } from "./reports/report-files.js";
import { checkSarif } from "./reports/sarif.js";
import { type Rule, parseRules } from "./rules/rule.js";
import { RunRules, checkForOneFuture, countedFor, throwViolations } from "./rules/run-rules.js";
import { type RunInput, type RunInputFlags, readRunInput } from "./run-input.js";
import { runText } from "./run-text.js";
import { RunsFile, parseRunsFormat } from "./runs-file.js";
import { simulate } from "./simulation.js";
import { printable, styleFor } from "./style.js";
import type { TimelineListener } from "./timeline/kept-rows.js";
import { Timeline } from "./timeline/timeline.js";
import { type HappeningRecord, traceLine } from "./trace.js";
import { UserError } from "./user-error.js";

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

/** @throws UserError for flags of which one plays one future, or compares two, and the other many. */
function checkTogether(flags: RunFlags): void {
  if (flags.seeds === undefined) {
    if (flags.workers !== undefined)
      throw new UserError("--workers plays many futures at once: say which with --seeds, for example --seeds 1-1000");
    for (const [flag, value] of [
      ["--indexed-job", flags.indexedJob],
      ["--summary", flags.summary],
    ] as const)
      if (value !== undefined)
        throw new UserError(`${flag} is of many futures: say which with --seeds, for example --seeds 1-1000`);
    if (flags.nodeSize !== undefined)
      throw new UserError(
        "--node-size tells how many nodes are enough in how many futures: say which with --seeds, for example --seeds 1-1000",
      );
    return;
  }
  for (const [flag, value, what] of [
    ["--seed", flags.seed, "names one of them: leave out one of the two"],
    ["--runs", flags.runs, ONE_FUTURE],
    ["--ics", flags.ics, ONE_FUTURE],
    ["--against", flags.against, ONE_COMPARISON],
    ["--against-kubernetes", flags.againstKubernetes, ONE_COMPARISON],
  ] as const)
    if (value !== undefined) throw new UserError(`--seeds plays many futures, and ${flag} ${what}`);
}

const ONE_FUTURE = "holds the runs of one: play that with --seed N instead, for example a worst one that --seeds names";
const ONE_COMPARISON = "compares two: take --seed N instead, or play each side with --seeds";

/** Where nothing says what to play, the project file does; flags count more than what else it says. */
async function withProject(
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

/** The rules that one of a project's futures, played alone, can be held against. */
function withoutShares(rules: readonly string[]): string[] {
  return parseRules(rules)
    .filter(({ mostFutures }) => mostFutures === undefined)
    .map(({ text }) => text);
}

/** @throws UserError for rules that one future cannot be held against. */
function checkRules(rules: readonly Rule[]): void {
  for (const { text, what } of rules)
    if (what.type === "change")
      throw new UserError(
        `--fail-on: ${JSON.stringify(text)} compares: say with what, --against FILE or --against-kubernetes V`,
      );
  checkForOneFuture(rules, "say which with --seeds");
}

/** `kubewright run`: plays manifests in virtual time and prints what happened. */
export async function runCommand(given: readonly string[], givenFlags: RunFlags, io: Io): Promise<void> {
  checkIndexedJob(givenFlags);
  const recorded = givenFlags.indexedJob === undefined ? undefined : new RecordedInputs(io);
  const { paths, flags } = await withProject(given, givenFlags, recorded?.io ?? io);
  checkTogether(flags);
  const seeds = seedsOfChunk(flags, parseSeeds);
  const rules = parseRules(flags.failOn ?? []);
  if (recorded !== undefined && seeds !== undefined)
    return indexedRun({ paths: given, flags: givenFlags }, { paths, flags: { ...flags, seeds } }, recorded, io);
  if (seeds !== undefined)
    return futuresCommand(paths, { ...flags, seeds, rules, command: seedCommand(given, givenFlags) }, io);
  if (flags.against !== undefined || flags.againstKubernetes !== undefined)
    return compareCommand(paths, { ...flags, rules }, io);
  checkRules(rules);
  const runsFormat = flags.runs === undefined ? undefined : parseRunsFormat(flags.runs);
  checkOutputs(
    { "--json": flags.json, "--html": flags.html, "--runs": flags.runs, "--ics": flags.ics, ...reportOutputs(flags) },
    [...paths, ...(flags.scenario === undefined ? [] : [flags.scenario])],
  );
  const input = await readRunInput(paths, flags, io);
  const { startMs, durationMs, seed, scenario } = input;
  const traceOnly = flags.json === "-";
  const trace =
    flags.json === undefined
      ? undefined
      : new TraceWriter(traceOnly ? stdoutFile(io) : await openOutput("--json", flags.json, io));
  const report = flags.html === undefined ? undefined : await HtmlReport.open(flags.html, io);
  const recorder = report === undefined ? undefined : new ReportRecorder();
  const runs =
    flags.runs === undefined || runsFormat === undefined
      ? undefined
      : new RunsFile(runsFormat, await openOutput("--runs", flags.runs, io));
  const calendar =
    flags.ics === undefined ? undefined : new CalendarFile(await openOutput("--ics", flags.ics, io), startMs);
  const reports = await ReportFiles.open(flags, io);
  const digest = new RunDigest();
  const held = rules.length === 0 ? undefined : new RunRules(rules);
  const pods = new PodPeaks(countedFor(rules).selections, new NodePools(input));
  const listeners = [digest, runs, calendar, held?.listener].filter((listener) => listener !== undefined);
  const timeline = new Timeline({ maxRows: 0, listener: together(listeners) });
  const progress = (await io.progress?.()) ?? noProgress;
  const happenings: HappeningRecord[] = [];
  const findings = new Findings(input);
  const { notes, problems: mistakes } = findings;
  let reachedMs = 0;
  await simulate({
    ...input,
    timeZoneData: io.timeZoneData,
    signal: io.stopped,
    emit: (record) => {
      timeline.add(record);
      pods.add(record);
      if (record.type === "happening") happenings.push(record);
      trace?.add(traceLine(record.type === "end" ? { ...record, atOnce: atOnceOf(pods.peaks) } : record));
      recorder?.add(record);
    },
    ...(recorder === undefined ? {} : { follow: (informers) => recorder.follow(informers) }),
    onProblem: (message) => notes.push(message),
    onCreated: (outcome) => findings.add(outcome),
    onProgress: async (elapsedMs) => {
      reachedMs = elapsedMs;
      io.holdMemory?.();
      progress.show(elapsedMs / durationMs, `${formatDuration(elapsedMs)} of ${formatDuration(durationMs)}`);
      await trace?.flush();
      await runs?.flush();
    },
  }).finally(() => progress.clear());
  const violations = held?.violations({ seed, endMs: startMs + durationMs, peaks: pods.peaks }) ?? [];
  // What is not whole does not take the place of what was there.
  if (mistakes.length === 0) {
    await trace?.close();
    if (recorder !== undefined) await report?.write(recorder.data(scenario?.description));
    await runs?.close();
    await calendar?.close();
    if (calendar !== undefined && calendar.left > 0)
      notes.push(`--ics: ${calendar.left.toLocaleString("en-US")} runs are left out: a calendar takes 50,000`);
    await writeReports(reports, { input, groups: digest.groups, rules, violations });
  } else {
    await trace?.discard();
    await report?.discard();
    await runs?.discard();
    await calendar?.discard();
    await reports.discard();
  }
  for (const note of notes) io.stderr.write(`kubewright: ${printable(note)}\n`);
  const interrupted = io.stopped.aborted
    ? new InterruptedError(`stopped after ${formatDuration(reachedMs)} of ${formatDuration(durationMs)}`)
    : undefined;
  const finish = (): void => {
    if (mistakes.length > 0) throw new UserError(mistakes.join("\n"));
    if (interrupted !== undefined) throw interrupted;
    throwViolations(violations);
  };
  if (traceOnly) return finish();
  const playedMs = interrupted === undefined ? durationMs : reachedMs;
  io.stdout.write(
    runText(
      { input, playedMs, groups: digest.groups, happenings, peaks: pods.peaks, timeline },
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
  const remarks = worthALook(groups, startMs);
  const report: CheckReport = {
    title,
    subjects: groups.map(({ group }) => group),
    rules,
    violations,
    remarks,
    manifests,
  };
  await files.write({
    markdown: () => runMarkdown(title, groups, { violations, remarks }),
    junit: () => junitXml(report),
    sarif: () => checkSarif(report),
  });
}

const DEFAULT_WIDTH = 120;

function together(listeners: readonly TimelineListener[]): TimelineListener {
  const [only, ...others] = listeners;
  if (only !== undefined && others.length === 0) return only;
  return {
    groupAdded: (group) => listeners.forEach((each) => each.groupAdded(group)),
    rowAdded: (group, row) => listeners.forEach((each) => each.rowAdded(group, row)),
    runDeleted: (group) => listeners.forEach((each) => each.runDeleted?.(group)),
    rowSettled: (group, row) => listeners.forEach((each) => each.rowSettled(group, row)),
  };
}

/** Collects lines while the simulation runs and writes them between slices of virtual time. */
class TraceWriter {
  #lines: string[] = [];

  constructor(readonly file: OutputFile) {}

  add(line: string): void {
    this.#lines.push(line);
  }

  async flush(): Promise<void> {
    if (this.#lines.length === 0) return;
    const text = this.#lines.join("");
    this.#lines = [];
    await this.file.write(text);
  }

  async close(): Promise<void> {
    await this.flush();
    await this.file.close();
  }

  async discard(): Promise<void> {
    // Standard output has no former content to leave.
    await this.flush();
    await this.file.discard();
  }
}

function stdoutFile(io: Io): OutputFile {
  return { write: async (text) => io.stdout.write(text), close: async () => {}, discard: async () => {} };
}
