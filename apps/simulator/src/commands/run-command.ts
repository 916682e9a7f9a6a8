import { UserError } from "@kubewright/analysis/errors";
import {
  type Rule,
  type Violation,
  countsNeededFor,
  parseRules,
  rejectShareRules,
  violationText,
  violationsOf,
} from "@kubewright/analysis/fail-on";
import { parseSeeds, seedCommand } from "@kubewright/analysis/futures";
import { type RunInput, readProjectFile, readRunInput } from "@kubewright/analysis/input";
import { silentProgress } from "@kubewright/analysis/ports";
import {
  type CheckReport,
  parseRunsFormat,
  reportOutputs,
  runMarkdown,
  writeReports,
} from "@kubewright/analysis/reports";
import {
  type DigestGroup,
  RunOutputs,
  findHighlights,
  runText,
  simulateCluster,
  simulateNamespaces,
} from "@kubewright/analysis/run";
import { formatDuration } from "@kubewright/analysis/time";
import { formatTime } from "@kubewright/api";
import { htmlPage, pageAssets } from "@kubewright/analysis/page";

import { seedsOfChunk } from "../indexed-job/chunk.js";
import { checkIndexedJob } from "../indexed-job/indexed-job-flags.js";
import { indexedRun } from "../indexed-job/indexed-run.js";
import { RecordedInputs } from "../indexed-job/recorded-inputs.js";
import type { Io } from "../io/io.js";
import { INDEXED_JOB_OPTIONS } from "../options/indexed-job-options.js";
import { DURATION_OPTION, MANIFESTS, MANIFEST_OPTIONS, clusterOptions } from "../options/input-options.js";
import { type RunFlags, runFiles } from "../options/run-flags.js";
import { parseWorkers } from "../options/workers.js";
import { type Command, type CommandContext, type CommandResult, collect } from "../shell/command.js";
import { compareCommand } from "./compare-command.js";
import { futuresCommand } from "./futures-command.js";

/** @throws UserError for combinations of flags for one future, for a comparison, and for many futures. */
function checkIncompatibleFlags(flags: RunFlags): void {
  const { seeds, workers, against, againstKubernetes } = flags;
  const withWorkers = (value: string | undefined): string | undefined => (workers === undefined ? undefined : value);
  const rejected: readonly (readonly [unknown, string])[] =
    seeds === undefined
      ? [
          [withWorkers(against), oneCluster("--against")],
          [withWorkers(againstKubernetes), oneCluster("--against-kubernetes")],
          [flags.indexedJob, `--indexed-job needs many futures: ${GIVE_RANGE}`],
          [flags.summary, `--summary needs many futures: ${GIVE_RANGE}`],
          [flags.nodeSize, `--node-size counts the nodes that are enough in many futures: ${GIVE_RANGE}`],
        ]
      : [
          [flags.seed, `${MANY_FUTURES} --seed simulates one of them: leave out one of the two`],
          [flags.runs, `${MANY_FUTURES} --runs ${ONE_FUTURE}`],
          [flags.ics, `${MANY_FUTURES} --ics ${ONE_FUTURE}`],
          [against, `${MANY_FUTURES} --against ${ONE_COMPARISON}`],
          [againstKubernetes, `${MANY_FUTURES} --against-kubernetes ${ONE_COMPARISON}`],
        ];
  for (const [value, message] of rejected) if (value !== undefined) throw new UserError(message);
}

const GIVE_RANGE = "give a range with --seeds, for example --seeds 1-1000";
const MANY_FUTURES = "--seeds simulates many futures, and";
const ONE_FUTURE =
  "lists the runs of one: simulate that with --seed N instead, for example a worst one that --seeds names";
const ONE_COMPARISON = "compares two: use --seed N instead, or simulate each side with --seeds";

function oneCluster(flag: string): string {
  return `--workers simulates one cluster on several threads, and ${flag} compares two: leave out one of them`;
}

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
export const runCommand: Command<RunFlags> = {
  argument: MANIFESTS,
  options: [
    ["--for <duration>", "virtual time to simulate: 30d, 12h, 90m (default: the scenario's, or 1d)"],
    ["--start <time>", "start of virtual time (default: the scenario's, or the next full hour)"],
    DURATION_OPTION,
    [
      "--fail-on <rules>",
      "end with status 1 if one of these occurs: skipped, missed, failed, late>10m, overlap, unschedulable, never-finished, peak-pods>50; of some CronJobs: 'billing/*:skipped'; with --seeds in more than a share of the futures: skipped>1%; with --against: changed",
      collect,
    ],
    ["--html <file>", "also write a report as one file for a browser, which works offline"],
    ["--seeds <seeds>", "simulate many futures, and count what goes wrong: 1000 (seeds 1 to 1000) or 1001-2000"],
    ["--against <file>", "also simulate this changed file or folder, and print the differences"],
    ["--from-cluster", "simulate the objects of a live cluster from now on; sends only GET and LIST requests"],
  ],
  moreOptions: [
    {
      title: "Simulation",
      options: [
        ["--scenario <file>", "events such as outages, lost nodes and edits; see docs/scenarios.md"],
        ["--seed <number>", "seed of the random source: equal seeds give equal runs (default: the scenario's, or 1)"],
        [
          "--kubernetes <version>",
          "release of Kubernetes to simulate: 1.31 to 1.36, or 1.36.2 (default: the cluster's with --from-cluster, or 1.36)",
        ],
        [
          "--against-kubernetes <version>",
          "also simulate the manifests, or those of --against, with this release, and print the differences",
        ],
        ["--controller-time-zone <zone>", "time zone of CronJobs without one (default: the scenario's, or UTC)"],
        [
          "--workers <number>",
          "number of threads: with --seeds for the seeds (default: the machine's cores), otherwise for the namespaces, each on its own nodes",
        ],
        [
          "--node-size <cores,memory>",
          "with --seeds: count how many nodes of this size are enough, and in what share of the futures: 4,16Gi",
          collect,
        ],
      ],
    },
    { title: "Manifests", options: MANIFEST_OPTIONS },
    { title: "Live cluster", options: clusterOptions("simulate") },
    {
      title: "Output",
      options: [
        ["--json <file>", "also write the trace as JSON lines; - writes only the trace, to standard output"],
        ["--runs <file>", "also write one line for each run: FILE.csv or FILE.jsonl"],
        ["--markdown <file>", "also write the results as a comment for a pull request"],
        ["--junit <file>", "also write a JUnit test for each rule of --fail-on and each CronJob"],
        ["--sarif <file>", "also write violations and highlights in SARIF, with their places in the manifests"],
        ["--ics <file>", "also write the runs as a calendar"],
      ],
    },
    { title: "Seeds on a cluster", options: INDEXED_JOB_OPTIONS },
  ],
  help: `
Examples:
  $ kubewright run cronjob.yaml --for 7d
  $ helm template chart/ | kubewright run - --for 7d
  $ kubewright run --from-cluster -A --for 7d
  $ kubewright run manifests/ --start 2026-03-28T00:00:00Z --for 2d --seed 7
  $ kubewright run --scenario examples/scenarios/weekend-outage.yaml
  $ kubewright run cronjob.yaml --for 30d --html report.html
  $ kubewright run manifests/ --for 365d --workers 8
  $ kubewright run manifests/ --for 7d --seeds 1-200 --html futures.html
  $ kubewright run cronjob.yaml --against changed.yaml --start 2026-03-28T00:00:00Z --for 3d
  $ kubewright run --from-cluster -A --for 7d --against-kubernetes 1.36   # what changes with an upgrade
  $ kubewright run manifests/ --seeds 1-100000 --fail-on missed --indexed-job ghcr.io/acme/kubewright:1 | kubectl apply -f -
  $ kubewright run job.yaml --json - | grep '"type":"decision"'`,
  run,
};

/** Chooses between one simulation, many seeds, a comparison, and a Job that runs the seeds on a cluster. */
async function run(given: CommandContext<RunFlags>): Promise<CommandResult> {
  const { io } = given;
  checkIndexedJob(given.flags);
  const recorded = given.flags.indexedJob === undefined ? undefined : new RecordedInputs(io);
  const { paths, flags } = await withProjectSettings(given.args, given.flags, recorded?.io ?? io);
  checkIncompatibleFlags(flags);
  const seeds = seedsOfChunk(flags, parseSeeds);
  const rules = parseRules(flags.failOn ?? []);
  if (recorded !== undefined && seeds !== undefined)
    return indexedRun(given, { paths, flags: { ...flags, seeds } }, recorded);
  const context = { ...given, args: paths };
  if (seeds !== undefined)
    return futuresCommand({
      ...context,
      flags: {
        ...flags,
        seeds,
        rules,
        commandFrom: (start) => seedCommand(given.args, start === undefined ? given.flags : { ...given.flags, start }),
      },
    });
  if (flags.against !== undefined || flags.againstKubernetes !== undefined)
    return compareCommand({ ...context, flags: { ...flags, rules } });
  checkRules(rules);
  return runOnce({ ...context, flags }, rules);
}

/** Simulates one future. */
async function runOnce(
  { args: paths, flags, io, outputs, format, note }: CommandContext<RunFlags>,
  rules: readonly Rule[],
): Promise<CommandResult> {
  const workers = parseWorkers(flags.workers);
  if (flags.runs !== undefined) parseRunsFormat(flags.runs);
  outputs.declare(
    { "--json": flags.json, "--html": flags.html, "--runs": flags.runs, "--ics": flags.ics, ...reportOutputs(flags) },
    runFiles(paths, flags),
  );
  const input = await readRunInput(paths, flags, io);
  const { startMs, durationMs, seed } = input;
  await outputs.open({ spooled: workers !== undefined });
  let runOutputs = new RunOutputs(outputs, flags, startMs);
  const progress = (await io.progress?.()) ?? silentProgress;
  const request = { input, counted: countsNeededFor(rules), io, progress };
  const parallelRun =
    workers === undefined ? undefined : await simulateNamespaces({ ...request, outputs: runOutputs, workers });
  if (parallelRun?.shared !== undefined) {
    await outputs.discard();
    await outputs.open();
    runOutputs = new RunOutputs(outputs, flags, startMs);
    note(`--workers: simulated on one thread, as without --workers: ${parallelRun.shared}`);
  }
  const simulated = parallelRun?.simulated ?? (await simulateCluster({ ...request, outputs: runOutputs }));
  const { outcome, peaks, reachedMs, problems } = simulated;
  const { groups, counted } = outcome;
  const violations = rules.length === 0 ? [] : violationsOf(rules, { seed, groups: counted, peaks });
  await runOutputs.end();
  const { page } = simulated;
  if (page !== undefined) await outputs.write("--html", async () => htmlPage(await pageAssets(io), page));
  await writeReports(outputs, ...reportOf(input, groups, rules, violations));
  note(...simulated.notes);
  const omitted = runOutputs.calendar?.omitted ?? 0;
  if (omitted > 0 && problems.length === 0)
    note(`--ics: ${omitted.toLocaleString("en-US")} runs are omitted: a calendar has at most 50,000`);
  const simulatedMs = io.stopped.aborted ? reachedMs : durationMs;
  return {
    text: flags.json === "-" ? "" : runText({ ...simulated, ...outcome, input, simulatedMs }, format),
    problems,
    interrupted: io.stopped.aborted
      ? `stopped after ${formatDuration(reachedMs)} of ${formatDuration(durationMs)}`
      : undefined,
    findings: violations.map(violationText),
  };
}

function reportOf(
  { startMs, durationMs, seed, manifests }: RunInput,
  groups: readonly DigestGroup[],
  rules: readonly Rule[],
  violations: readonly Violation[],
): [CheckReport, () => string] {
  const title = `${formatDuration(durationMs)} from ${formatTime(startMs)}, seed ${seed}`;
  const highlights = findHighlights(groups, startMs);
  const subjects = groups.map(({ group }) => group);
  return [
    { title, subjects, rules, violations, highlights, manifests },
    () => runMarkdown(title, groups, { violations, highlights }),
  ];
}
