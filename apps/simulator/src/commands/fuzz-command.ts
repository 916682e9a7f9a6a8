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

import { countSeeds, parseSeeds, seedsText } from "@kubewright/analysis/futures";
import { seedsOfChunk } from "../indexed-job/chunk.js";
import { indexedFuzz } from "../indexed-job/indexed-fuzz.js";
import { checkIndexedJob } from "../indexed-job/indexed-job-flags.js";
import { writeSummary } from "../indexed-job/write-summary.js";
import { parseWorkers } from "../options/workers.js";
import { InterruptedError, ViolationsError, UserError } from "@kubewright/analysis/errors";
import { type OutputFile, silentProgress, checkOutputs, openOutput } from "@kubewright/analysis/ports";
import type { Io } from "../io/io.js";
import { printable, styleFor } from "@kubewright/analysis/text";
import { fuzzPage } from "../fuzz-page/fuzz-page.js";
import { runTask } from "../nodejs/fuzz-worker.js";
import {
  type FuzzFlags,
  type PlanChoice,
  checkIncompatibleFlags,
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
import type { MutantKit } from "../fuzz/mutant-kit.js";
import { planLines, violationLine } from "../fuzz/plan-text.js";
import { loadRunner } from "../fuzz/load-runner.js";

/** `kubewright fuzz`: runs generated plans and reports violated invariants. */
export async function fuzzCommand(given: FuzzFlags, io: Io): Promise<void> {
  checkIncompatibleFlags(given);
  checkIndexedJob(given);
  if (given.indexedJob !== undefined) return indexedFuzz(given, io);
  const seeds = seedsOfChunk(given, parseSeeds);
  const flags = seeds === undefined ? given : { ...given, seeds };
  if (flags.listMutants === true) return listMutants(io);
  checkOutputs(
    { "--json": flags.json, "--save": flags.save, "--html": flags.html },
    flags.replay === undefined ? [] : [flags.replay],
  );
  if (flags.replay !== undefined) return replay(flags.replay, flags, io);
  await campaign(flags, io);
}

async function campaign(flags: FuzzFlags, io: Io): Promise<void> {
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
  const jsonOnly = flags.json === "-";
  const file = flags.json === undefined || jsonOnly ? undefined : await openOutput("--json", flags.json, io);
  const saved = flags.save === undefined ? undefined : await openOutput("--save", flags.save, io);
  const page = flags.html === undefined ? undefined : await openOutput("--html", flags.html, io);
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
  } catch (error) {
    await file?.discard();
    await saved?.discard();
    await page?.discard();
    throw error;
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
  const json = fuzzJson(whole);
  await file?.write(json);
  await file?.close();
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
  if (found === undefined) await saved?.discard();
  else {
    await saved?.write(planText((found.minimized ?? found).plan));
    await saved?.close();
  }
  if (jsonOnly) io.stdout.write(json);
  else {
    const style = styleFor(io.stdout.hasColours);
    const what = faults === undefined ? "all faults" : faults.length === 0 ? "no faults" : faults.join(", ");
    const who = sharding === undefined ? "" : `, ${sharding} controller managers that share the work`;
    io.stdout.write(
      `${style.bold("kubewright fuzz")}  ${seedsText(seeds)}, ${what}${who}${mutant === undefined ? "" : `, mutant ${mutant}`}\n\n`,
    );
    io.stdout.write(
      fuzzText(report, {
        style,
        elapsedMs,
        plansRun: report.plansRun - (before?.plansRun ?? 0),
        sentenceOf: (name) => builtInInvariants.find((invariant) => invariant.name === name)?.sentence,
        replayCommand: (name) => replayCommand(name, flags, chosen),
      }),
    );
  }
  await writePage(page, found === undefined ? undefined : (found.minimized ?? found).plan, {
    command: found === undefined ? "" : replayCommand(found.name, flags, chosen),
    runner,
    io,
  });
  if (io.stopped.aborted) {
    const left = countSeeds({ first: report.next, last: seeds.last });
    throw new InterruptedError(
      `stopped with ${left.toLocaleString("en-US")} of ${countSeeds(seeds).toLocaleString("en-US")} seeds left${flags.json === undefined || jsonOnly ? "" : `; --resume ${flags.json} continues`}`,
    );
  }
  if (report.violations.length > 0) throw new ViolationsError([foundCount(report.violations.length)]);
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

async function replay(planName: string, flags: FuzzFlags, io: Io): Promise<void> {
  const choice = choiceOf(flags);
  const plan = await planOf(planName, choice, io);
  const runner = await runnerUrlOf(flags.mutant, io);
  const file = flags.json === undefined || flags.json === "-" ? undefined : await openOutput("--json", flags.json, io);
  const saved = flags.save === undefined ? undefined : await openOutput("--save", flags.save, io);
  const page = flags.html === undefined ? undefined : await openOutput("--html", flags.html, io);
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
  const json = `${JSON.stringify({ ...outcome, violations, plan: shown }, null, 2)}\n`;
  await file?.write(json);
  await file?.close();
  await saved?.write(planText(shown));
  await saved?.close();
  if (flags.json === "-") io.stdout.write(json);
  else {
    const style = styleFor(io.stdout.hasColours);
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
    io.stdout.write(`${lines.join("\n")}\n`);
  }
  await writePage(page, violations.length === 0 ? undefined : shown, {
    command: replayCommand(planName, flags, { ...choice, mutant: flags.mutant }),
    runner,
    io,
  });
  if (io.stopped.aborted) throw new InterruptedError("stopped before nothing more could be left out");
  if (violations.length > 0) throw new ViolationsError([foundCount(violations.length)]);
}

async function planOf(planName: string, choice: PlanChoice, io: Io): Promise<FaultPlan> {
  if (!isPlanName(planName)) return loadPlan(planName, io);
  const plan = planNamed(planName, (seed) => planOfSeed(choice, seed));
  if (plan === undefined) throw new UserError(`--replay: ${JSON.stringify(planName)} is no seed up to 4294967295`);
  return plan;
}

const NO_MUTANTS =
  "the known bugs are kept in the repository of kubewright and are not part of what is installed; clone it to try them";

async function listMutants(io: Io): Promise<void> {
  const kit = await kitOf("--list-mutants", io);
  const mutants = await kit.listMutants();
  const width = Math.max(...mutants.map(({ name }) => name.length));
  for (const { name, sentence, permitted } of mutants)
    io.stdout.write(`${name.padEnd(width)}  ${sentence}${permitted === true ? " (permitted)" : ""}\n`);
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

/** Writes the page of a violating plan. Without a plan nothing is written. */
async function writePage(
  page: OutputFile | undefined,
  plan: FaultPlan | undefined,
  { command, runner: url, io }: { readonly command: string; readonly runner: string | undefined; readonly io: Io },
): Promise<void> {
  if (page === undefined) return;
  if (plan === undefined) return page.discard();
  try {
    const runner = await loadRunner(url);
    await page.write(await fuzzPage(plan, { command, runner, invariants: builtInInvariants, signal: io.stopped }, io));
    await page.close();
  } catch (error) {
    await page.discard();
    throw error;
  }
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
