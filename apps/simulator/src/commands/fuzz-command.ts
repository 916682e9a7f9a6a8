import { UserError } from "@kubewright/analysis/errors";
import { countSeeds, parseSeeds, seedsText } from "@kubewright/analysis/futures";
import { type Outputs, silentProgress } from "@kubewright/analysis/ports";
import { printable } from "@kubewright/analysis/text";
import { realClock } from "@kubewright/clock";
import {
  type CampaignProgress,
  type FaultPlan,
  type FuzzReport,
  type FuzzWorkers,
  builtInInvariants,
  failsLike,
  minimize,
  planNamed,
  runCampaign,
  sometimes,
} from "@kubewright/simulation";
import { stringify } from "yaml";

import { fuzzPage } from "../fuzz-page/fuzz-page.js";
import {
  type FuzzFlags,
  type PlanChoice,
  checkIncompatibleFlags,
  faultsText,
  isPlanName,
  parseFaults,
  parseForMinutes,
  parseSharding,
  planOfSeed,
  seedsOf,
} from "../fuzz/fuzz-flags.js";
import { type FuzzFile, fuzzJson, readFuzzFile } from "../fuzz/fuzz-json.js";
import { foundCount, fuzzText } from "../fuzz/fuzz-text.js";
import { loadPlan } from "../fuzz/load-plan.js";
import { loadRunner } from "../fuzz/load-runner.js";
import type { MutantKit } from "../fuzz/mutant-kit.js";
import { planLines, violationLine } from "../fuzz/plan-text.js";
import { seedsOfChunk } from "../indexed-job/chunk.js";
import { indexedFuzz } from "../indexed-job/indexed-fuzz.js";
import { checkIndexedJob } from "../indexed-job/indexed-job-flags.js";
import { writeSummary } from "../indexed-job/write-summary.js";
import type { Io } from "../io/io.js";
import { runTask } from "../nodejs/fuzz-worker.js";
import { INDEXED_JOB_OPTIONS } from "../options/indexed-job-options.js";
import { parseWorkers } from "../options/workers.js";
import type { Command, CommandContext, CommandResult } from "../shell/command.js";

/** `kubewright fuzz`: runs generated plans and reports violated invariants. */
export const fuzzCommand: Command<FuzzFlags> = {
  options: [
    ["--seeds <seeds>", "run the plan of each seed: 500 (seeds 1 to 500) or 501-1000 (default: 1000)"],
    ["--for-minutes <number>", "start no new plan after this time; without --seeds: as many seeds as fit"],
    ["--workers <number>", "number of threads (default: the machine's cores)"],
    ["--faults <list>", "faults to inject: requestFails,staleCache, or none (default: all)"],
    ["--sharding <managers>", "number of controller managers that share the work, 1 to 5, with faults of their own"],
    ["--replay <file|seed>", "run one plan, from a file or from a seed such as 7 or 7+12, and print its violations"],
    ["--minimize", "remove everything from a violating plan that the violation does not need"],
    ["--save <file>", "write the plan of the first violation, or the one that is replayed, as a scenario"],
    ["--resume <file>", "continue from a report that --json has written"],
    ["--mutant <name>", "add a known bug, to see whether it is found (in a checkout of the repository)"],
    ["--list-mutants", "print the known bugs"],
    ["--json <file>", "also write what was found as one object; - writes only that, to standard output"],
    ["--html <file>", "also write the first violation as a page that shows its run step by step, offline"],
  ],
  moreOptions: [{ title: "Seeds on a cluster", options: INDEXED_JOB_OPTIONS }],
  help: `
Equal seeds give equal runs, on any number of threads. Ends with status 1 if an invariant did not hold.
${faultsText()}

Examples:
  $ kubewright fuzz --seeds 1-1000
  $ kubewright fuzz --for-minutes 10 --json night.json
  $ kubewright fuzz --resume night.json --json night.json --seeds 1-5000
  $ kubewright fuzz --faults requestFails,controllerCrashes --minimize
  $ kubewright fuzz --sharding 3 --seeds 1-200
  $ kubewright fuzz --replay 7 --minimize --save plan.yaml
  $ kubewright fuzz --replay plan.yaml --html run.html
  $ kubewright fuzz --mutant job-finished-forgotten --minimize
  $ kubewright fuzz --seeds 1-100000 --indexed-job ghcr.io/acme/kubewright:1 | kubectl apply -f -`,
  run: fuzz,
};

async function fuzz(context: CommandContext<FuzzFlags>): Promise<CommandResult> {
  const { flags: given, io, outputs } = context;
  checkIncompatibleFlags(given);
  checkIndexedJob(given);
  if (given.indexedJob !== undefined) return indexedFuzz(given);
  const seeds = seedsOfChunk(given, parseSeeds);
  const flags = seeds === undefined ? given : { ...given, seeds };
  if (flags.listMutants === true) return { text: await mutantsText(io) };
  outputs.declare(
    { "--json": flags.json, "--save": flags.save, "--html": flags.html },
    flags.replay === undefined ? [] : [flags.replay],
  );
  return flags.replay === undefined ? campaign({ ...context, flags }) : replay(flags.replay, { ...context, flags });
}

async function campaign({ flags, io, outputs, format: { style } }: CommandContext<FuzzFlags>): Promise<CommandResult> {
  const workers = parseWorkers(flags.workers);
  const forMs = parseForMinutes(flags.forMinutes);
  const before = flags.resume === undefined ? undefined : await readFuzzFile(flags.resume, io);
  const chosen = resumedChoice(before, { ...choiceOf(flags, before), mutant: flags.mutant });
  const { faults, sharding, mutant } = chosen;
  const first = before?.seeds.from;
  const seeds =
    before !== undefined && flags.seeds === undefined && forMs === undefined
      ? { first: before.seeds.from, last: before.seeds.to }
      : seedsOf(flags);
  if (first !== undefined && seeds.first !== first)
    throw new UserError(
      `--seeds: ${flags.resume} begins with seed ${first}; write ${first}-${seeds.last} to continue it`,
    );
  const runner = await runnerUrlOf(mutant, io);
  await outputs.open();
  const progress = (await io.progress?.()) ?? silentProgress;
  const pool = (await io.fuzzWorkers?.(workers, runner)) ?? inThisThread(runner);
  const startMs = realClock.now();
  let report: FuzzReport;
  try {
    progress.show(0, "0 plans");
    report = await runCampaign({
      seeds: { from: seeds.first, to: seeds.last },
      makePlan: (seed) => planOfSeed(chosen, seed),
      workers: pool,
      sometimes: sometimes.map(({ name }) => name),
      minimize: flags.minimize === true,
      clock: realClock,
      signal: io.stopped,
      onProgress: (campaignProgress) => progress.show(campaignProgress.fraction, progressText(campaignProgress)),
      ...(forMs === undefined ? {} : { forMs }),
      // A sharded plan takes as long as a dozen others.
      ...(sharding === undefined ? {} : { roundSeeds: 8 }),
      ...(before === undefined ? {} : { resume: before }),
    });
  } finally {
    progress.clear();
    await pool.close();
  }
  const elapsedMs = realClock.now() - startMs;
  const whole: FuzzFile = {
    ...report,
    ...(faults === undefined ? {} : { faults }),
    ...(sharding === undefined ? {} : { sharding }),
    ...(mutant === undefined ? {} : { mutant }),
  };
  await outputs.write("--json", () => fuzzJson(whole));
  if (!io.stopped.aborted)
    await writeSummary(
      flags.summary,
      {
        chunkVersion: 1,
        seeds: { from: seeds.first, to: seeds.last },
        simulated: report.plansRun,
        findings: report.violations.map(({ invariant, kind, name, plans }) => ({
          what: `${invariant}: ${kind}`,
          seed: name,
          count: plans,
        })),
      },
      io,
    );
  const [found] = report.violations;
  await writeFirst(outputs, found && (found.minimized ?? found).plan, {
    command: found === undefined ? "" : replayCommand(found.name, flags, chosen),
    runner,
    io,
  });
  const what = faults === undefined ? "all faults" : faults.length === 0 ? "no faults" : faults.join(", ");
  const who = sharding === undefined ? "" : `, ${sharding} controller managers that share the work`;
  const heading = `${style.bold("kubewright fuzz")}  ${seedsText(seeds)}, ${what}${who}${mutant === undefined ? "" : `, mutant ${mutant}`}`;
  const text = fuzzText(report, {
    style,
    elapsedMs,
    plansRun: report.plansRun - (before?.plansRun ?? 0),
    sentenceOf: (name) => builtInInvariants.find((invariant) => invariant.name === name)?.sentence,
    replayCommand: (name) => replayCommand(name, flags, chosen),
  });
  const left = countSeeds({ first: report.next, last: seeds.last }).toLocaleString("en-US");
  const resumes = flags.json === undefined || flags.json === "-" ? "" : `; --resume ${flags.json} continues`;
  return {
    text: `${heading}\n\n${text}`,
    interrupted: io.stopped.aborted
      ? `stopped with ${left} of ${countSeeds(seeds).toLocaleString("en-US")} seeds left${resumes}`
      : undefined,
    findings: report.violations.length > 0 ? [foundCount(report.violations.length)] : [],
  };
}

/** Returns the options of the plan generator. Options of a resumed report may be omitted. */
function choiceOf(flags: FuzzFlags, before?: FuzzFile): PlanChoice {
  const sharding = parseSharding(flags.sharding) ?? before?.sharding;
  return { faults: parseFaults(flags.faults, sharding), sharding };
}

/** Checks the options against the resumed report and returns those of the report. */
function resumedChoice(
  before: FuzzFile | undefined,
  given: PlanChoice & { readonly mutant: string | undefined },
): typeof given {
  if (before === undefined) return given;
  if (given.faults !== undefined && given.faults.join() !== before.faults?.join())
    throw new UserError(
      `--faults: the resumed report has ${before.faults?.join() ?? "all faults"}; leave --faults out`,
    );
  if (given.sharding !== before.sharding)
    throw new UserError(
      `--sharding: the resumed report has ${before.sharding ?? "no"} managers that share the work; leave --sharding out`,
    );
  if (given.mutant !== undefined && given.mutant !== before.mutant)
    throw new UserError(`--mutant: the resumed report has ${before.mutant ?? "no mutant"}; leave --mutant out`);
  return { faults: before.faults, sharding: before.sharding, mutant: before.mutant };
}

async function replay(
  planName: string,
  { flags, io, outputs, format: { style } }: CommandContext<FuzzFlags>,
): Promise<CommandResult> {
  const choice = choiceOf(flags);
  const plan = await planOf(planName, choice, io);
  const runner = await runnerUrlOf(flags.mutant, io);
  await outputs.open();
  const workers = inThisThread(runner);
  const progress = (await io.progress?.()) ?? silentProgress;
  const outcome = await workers.run(plan);
  let shown = plan;
  let { violations } = outcome;
  const [first] = violations;
  try {
    if (flags.minimize === true && first !== undefined) {
      const kind = first.subject.split(" ", 1)[0]!;
      const smallest = await minimize(plan, failsLike({ invariant: first.invariant, kind }, workers), {
        signal: io.stopped,
        onProgress: ({ plansRun, events: scenarioEvents }) =>
          progress.show(0, `${plansRun} plays, ${scenarioEvents} events left`),
      });
      shown = smallest.plan;
      violations = [smallest.violation];
    }
  } finally {
    progress.clear();
  }
  await outputs.write("--json", () => `${JSON.stringify({ ...outcome, violations, plan: shown }, null, 2)}\n`);
  await outputs.write("--save", () => planText(shown));
  await writePage(outputs, violations.length === 0 ? undefined : shown, {
    command: replayCommand(planName, flags, { ...choice, mutant: flags.mutant }),
    runner,
    io,
  });
  const lines = [
    `${style.bold("kubewright fuzz")}  ${printable(plan.name ?? planName)}, ${plan.for} of virtual time, trace ${outcome.hash}`,
    "",
    ...planLines(shown).map((line) => `  ${line}`),
    "",
    ...violations.map(
      (violation) => `${style.red(printable(violation.invariant))}  ${violationLine(violation, shown, style)}`,
    ),
    ...(violations.length === 0 ? [style.green("nothing went wrong")] : []),
  ];
  return {
    text: `${lines.join("\n")}\n`,
    interrupted: io.stopped.aborted ? "stopped before nothing more could be left out" : undefined,
    findings: violations.length > 0 ? [foundCount(violations.length)] : [],
  };
}

async function planOf(planName: string, choice: PlanChoice, io: Io): Promise<FaultPlan> {
  if (!isPlanName(planName)) return loadPlan(planName, io);
  const plan = planNamed(planName, (seed) => planOfSeed(choice, seed));
  if (plan === undefined) throw new UserError(`--replay: ${JSON.stringify(planName)} is no seed up to 4294967295`);
  return plan;
}

const NO_MUTANTS =
  "the known bugs are kept in the repository of kubewright and are not part of what is installed; clone it to try them";

async function mutantsText(io: Io): Promise<string> {
  const kit = await kitOf("--list-mutants", io);
  const mutants = await kit.listMutants();
  const width = Math.max(...mutants.map(({ name }) => name.length));
  return mutants
    .map(
      ({ name, sentence, permitted }) =>
        `${name.padEnd(width)}  ${sentence}${permitted === true ? " (permitted)" : ""}\n`,
    )
    .join("");
}

async function kitOf(flag: string, io: Io): Promise<MutantKit> {
  const kit = await io.mutants?.();
  if (kit === undefined) throw new UserError(`${flag}: ${NO_MUTANTS}`);
  return kit;
}

/** Returns the URL of a runner with the bug; `undefined` for the standard runner. */
async function runnerUrlOf(mutant: string | undefined, io: Io): Promise<string | undefined> {
  if (mutant === undefined) return undefined;
  const kit = await kitOf("--mutant", io);
  try {
    return await kit.runnerUrl(mutant);
  } catch (error) {
    throw new UserError(`--mutant: ${(error as Error).message}; --list-mutants names all`, { cause: error });
  }
}

/** Runs one plan after the other in this thread. */
function inThisThread(runner: string | undefined): FuzzWorkers & { readonly close: () => Promise<void> } {
  return {
    count: 1,
    run: (plan) => runTask({ plan, ...(runner === undefined ? {} : { runner }) }),
    close: async () => {},
  };
}

interface PageSource {
  readonly command: string;
  readonly runner: string | undefined;
  readonly io: Io;
}

/** Writes the first violating plan and its page. Without one, existing files are kept. */
async function writeFirst(outputs: Outputs, plan: FaultPlan | undefined, source: PageSource): Promise<void> {
  if (plan === undefined) await outputs.keep("--save");
  else await outputs.write("--save", () => planText(plan));
  await writePage(outputs, plan, source);
}

/** Writes the page of a violating plan. Without one, an existing page is kept. */
async function writePage(
  outputs: Outputs,
  plan: FaultPlan | undefined,
  { command, runner: url, io }: PageSource,
): Promise<void> {
  if (plan === undefined) return outputs.keep("--html");
  await outputs.write("--html", async () =>
    fuzzPage(plan, { command, runner: await loadRunner(url), invariants: builtInInvariants, signal: io.stopped }, io),
  );
}

function planText(plan: FaultPlan): string {
  return stringify(plan, { lineWidth: 0, aliasDuplicateObjects: false });
}

function progressText({ phase, plansRun, violations }: CampaignProgress): string {
  const found = violations === 0 ? "" : `, ${foundCount(violations)}`;
  return `${phase === "playing" ? "" : "minimising: "}${plansRun.toLocaleString("en-US")} plans${found}`;
}

function replayCommand(
  name: string,
  { minimize: isMinimized }: FuzzFlags,
  { faults, sharding, mutant }: PlanChoice & { readonly mutant: string | undefined },
): string {
  const withSharding = sharding === undefined ? "" : ` --sharding ${sharding}`;
  const withFaults = faults === undefined ? "" : ` --faults ${faults.length === 0 ? "none" : faults.join(",")}`;
  const withMutant = mutant === undefined ? "" : ` --mutant ${mutant}`;
  return `kubewright fuzz --replay ${name}${withSharding}${withFaults}${withMutant}${isMinimized === true ? " --minimize" : ""}`;
}
