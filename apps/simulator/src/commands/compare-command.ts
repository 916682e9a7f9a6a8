import {
  type ComparisonHeader,
  RunRecords,
  compareRuns,
  comparisonLegend,
  comparisonLines,
  comparisonReport,
  comparisonText,
  manifestChanges,
} from "@kubewright/analysis/compare";
import { InterruptedError, UserError } from "@kubewright/analysis/errors";
import {
  RunRules,
  changeViolations,
  countsNeededFor,
  rejectShareRules,
  violationText,
} from "@kubewright/analysis/fail-on";
import { PodPeaks } from "@kubewright/analysis/futures";
import {
  type CreateOutcome,
  type Manifest,
  type RunInput,
  type SimulatedVersion,
  fromCluster,
  identityOf,
  problemLines,
  parseKubernetesVersion,
  readRunInput,
  repeatRemark,
  versionName,
  versionRemark,
} from "@kubewright/analysis/input";
import { type Progress, silentProgress } from "@kubewright/analysis/ports";
import {
  type CheckReport,
  ReportRecorder,
  comparisonMarkdown,
  reportOutputs,
  writeReports,
} from "@kubewright/analysis/reports";
import { Timeline, addedNodesText, assumptionText, simulate } from "@kubewright/analysis/run";
import { formatDuration } from "@kubewright/analysis/time";
import { formatTime } from "@kubewright/api";
import { htmlPage, pageAssets } from "@kubewright/analysis/page";
import type { TraceRecord } from "@kubewright/analysis/trace";

import type { Io } from "../io/io.js";
import { type CheckedRunFlags, runFiles } from "../options/run-flags.js";
import type { CommandContext, CommandResult } from "../shell/command.js";

/**
 * `kubewright run … --against OTHER`: simulates both sets of manifests in the same way and prints the differences by
 * run; with `--against-kubernetes` under two releases.
 */
export async function compareCommand({
  args: paths,
  flags,
  io: given,
  outputs,
  format,
  note,
}: CommandContext<CheckedRunFlags>): Promise<CommandResult> {
  const { against, json, html, rules } = flags;
  rejectShareRules(rules, "simulate B alone, with --seeds");
  rejectRunLists(flags);
  const kubernetesB = parseAgainstVersion(flags.againstKubernetes);
  const filesA = [...(flags.fromCluster ? ["the cluster"] : []), ...runFiles(paths, flags)];
  outputs.declare({ "--json": json, "--html": html, ...reportOutputs(flags) }, [
    ...filesA,
    ...(against === undefined ? [] : [against]),
  ]);
  // Both sides have the same start, also when an hour ends between them.
  const nowMs = given.now();
  const io: Io = { ...given, now: () => nowMs };
  const cluster = await fromCluster(flags, io, { readsVersion: flags.kubernetes === undefined });
  const a = await readRunInput(paths, flags, io, cluster);
  const changed =
    against === undefined ? a : withoutReplaced(await readRunInput([against], flags, io, cluster), against);
  const b: RunInput = kubernetesB === undefined ? changed : { ...changed, kubernetesVersion: kubernetesB.version };
  const filesB = against === undefined ? filesA : [against];
  await outputs.open();
  const recorders = html === undefined ? [] : [new ReportRecorder(), new ReportRecorder()];
  const progress = (await io.progress?.()) ?? silentProgress;
  const records: RunRecords[] = [];
  // The rules apply to B, the intended state.
  const ruleChecks = new RunRules(rules);
  const pods = new PodPeaks(countsNeededFor(rules).selections);
  const timeline = new Timeline({ maxRows: 0, listener: ruleChecks.listener });
  const addToRuleChecks = (record: TraceRecord): void => {
    timeline.add(record);
    pods.add(record);
  };
  const listeners = [
    undefined,
    rules.some(({ condition }) => condition.type !== "change") ? addToRuleChecks : undefined,
  ];
  const unread = problemLines([...a.mistakes, ...b.mistakes], a.strict);
  const problems = [...new Set([...a.problems, ...b.problems, ...unread.problems])];
  const notes = [
    ...new Set([
      ...a.notes,
      ...b.notes,
      ...unread.notes,
      ...(kubernetesB?.note === undefined ? [] : [kubernetesB.note]),
    ]),
  ];
  if (against === undefined && a.kubernetesVersion === b.kubernetesVersion)
    notes.push(`both are simulated as Kubernetes ${versionName(b.kubernetesVersion)}: --kubernetes says what A is`);
  for (const [index, input] of [a, b].entries()) {
    const label = index === 0 ? "A" : "B";
    const onCreated = (outcome: CreateOutcome): void => {
      const lines = problemLines(outcome.problems, input.strict);
      problems.push(...lines.problems);
      notes.push(
        ...lines.notes.filter((line) => !notes.includes(line)),
        ...outcome.notes.map((note) => `${label}: ${note}`),
      );
      if (outcome.created.length > 0 || input.manifests.length === 0 || input.live !== undefined) return;
      const isExplained = problems.length + outcome.problems.length + input.mistakes.length > 0;
      throw new UserError(
        [...notes, ...problems, ...(isExplained ? [] : [`${label}: nothing is left to simulate`])].join("\n"),
      );
    };
    records.push(
      await simulateSide(
        input,
        { label, progress, done: index / 2, onCreated, recorder: recorders[index], listener: listeners[index] },
        io,
      ),
    );
  }
  note(...notes);
  progress.clear();

  const { startMs, durationMs, seed } = a;
  const endMs = startMs + durationMs;
  const comparison = compareRuns(records[0]!, records[1]!);
  const broken = [
    ...ruleChecks.violations({ seed, endMs, peaks: pods.peaks }),
    ...changeViolations(rules, comparison, seed),
  ];
  const violations = rules.flatMap((rule) => broken.filter((violation) => violation.rule === rule));
  const changes = manifestChanges(a.manifests, b.manifests);
  const header: ComparisonHeader = {
    a: filesA,
    b: filesB,
    kubernetesVersions: [a.kubernetesVersion, b.kubernetesVersion],
    startMs,
    endMs,
    seed,
    timeZoneData: io.timeZoneData,
  };
  const titles = { a: sideTitle(filesA, a, b), b: sideTitle(filesB, b, a) };
  const title = `${formatDuration(durationMs)} from ${formatTime(startMs)}, seed ${seed}`;
  const report: CheckReport = {
    title,
    subjects: comparison.groups,
    rules,
    violations,
    highlights: [],
    manifests: b.manifests,
  };
  await writeReports(outputs, report, () => comparisonMarkdown(title, comparison, changes, violations));
  const [dataA, dataB] = [a, b].map(({ scenario, workloads }, index) =>
    recorders[index]?.data({ description: scenario?.description, assumption: assumptionText(workloads) }),
  );
  if (dataA !== undefined && dataB !== undefined)
    await outputs.write("--html", async () =>
      htmlPage(await pageAssets(io), comparisonReport(titles, dataA, dataB, comparison, changes)),
    );
  for (const line of comparisonLines(header, comparison, changes)) await outputs.write("--json", () => line);
  const { style, width } = format;
  const length = `${formatDuration(durationMs)} of virtual time, seed ${seed}${repeatRemark(a.repeat)}`;
  const added = Object.entries({ A: a, B: b }).map(([label, { addedNodes }]) =>
    addedNodes.length > 0 ? `${label}: ${addedNodesText(addedNodes, width)}\n\n` : "",
  );
  const heading = `${style.bold("kubewright")}  ${formatTime(startMs)} → ${formatTime(endMs)} (${length})\nA: ${titles.a}\nB: ${titles.b}\n${comparisonLegend(style)}\n\n`;
  return {
    text: `${heading}${added.join("")}${comparisonText(comparison, changes, format)}`,
    problems,
    findings: violations.map(violationText),
  };
}

/** @throws UserError for files that list one run. */
function rejectRunLists(flags: CheckedRunFlags): void {
  const option = flags.against === undefined ? "--against-kubernetes" : "--against";
  for (const [flag, value] of [
    ["--runs", flags.runs],
    ["--ics", flags.ics],
  ] as const)
    if (value !== undefined)
      throw new UserError(`${flag} lists one run and ${option} compares two: leave out one of them, or take --json`);
}

function parseAgainstVersion(text: string | undefined): SimulatedVersion | undefined {
  return text === undefined ? undefined : parseKubernetesVersion(text, "--against-kubernetes");
}

/** The files of a side, with its release if either release is not the newest. */
function sideTitle(files: readonly string[], own: RunInput, other: RunInput): string {
  const remark = versionRemark(own.kubernetesVersion);
  const release =
    versionRemark(other.kubernetesVersion) === "" ? remark : `, Kubernetes ${versionName(own.kubernetesVersion)}`;
  return `${files.join(", ")}${release}`;
}

interface SimulateSideOptions {
  readonly label: string;
  readonly progress: Progress;
  /** Share of the total work that is done. */
  readonly done: number;
  /** Records the run for the page. */
  readonly recorder: ReportRecorder | undefined;
  /** Receives every record. */
  readonly listener: ((record: TraceRecord) => void) | undefined;
  readonly onCreated: (outcome: CreateOutcome) => void;
}

/** @throws InterruptedError when stopped before the end, because half a run cannot be compared. */
async function simulateSide(
  input: RunInput,
  { label, progress, done, onCreated, recorder, listener }: SimulateSideOptions,
  io: Io,
): Promise<RunRecords> {
  const { durationMs } = input;
  const records = new RunRecords();
  const problems: string[] = [];
  let reachedMs = 0;
  await simulate({
    ...input,
    timeZoneData: io.timeZoneData,
    signal: io.stopped,
    emit: (record) => {
      records.add(record);
      listener?.(record);
      recorder?.add(record);
    },
    ...(recorder === undefined ? {} : { follow: (informers) => recorder.follow(informers) }),
    onProblem: (message) => problems.push(message),
    onCreated,
    onProgress: (elapsedMs) => {
      reachedMs = elapsedMs;
      io.holdMemory?.();
      const text = `${label}: ${formatDuration(elapsedMs)} of ${formatDuration(durationMs)}`;
      progress.show(done + elapsedMs / durationMs / 2, text);
    },
  });
  if (io.stopped.aborted) {
    progress.clear();
    throw new InterruptedError(
      `stopped in ${label} after ${formatDuration(reachedMs)} of ${formatDuration(durationMs)}: nothing to compare`,
    );
  }
  for (const problem of problems) io.stderr.write(`kubewright: ${label}: ${problem}\n`);
  return records;
}

/** Removes manifests of the scenario that the other file replaces. */
function withoutReplaced(input: RunInput, against: string): RunInput {
  if (input.scenario === undefined) return input;
  const folder = against.replace(/\/+$/, "");
  const isChanged = ({ source }: Manifest): boolean =>
    source.startsWith(`${folder}:`) || source.startsWith(`${folder}/`);
  const changed = new Set(input.manifests.filter(isChanged).map(({ object }) => identityOf(object)));
  return {
    ...input,
    manifests: input.manifests.filter((each) => isChanged(each) || !changed.has(identityOf(each.object))),
  };
}
