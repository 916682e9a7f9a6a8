import type { Clock } from "@kubewright/clock";

import type { FaultPlan } from "../fault-plan.js";
import type { Outcome } from "../outcome.js";
import { minimize } from "../minimize/minimize.js";
import { kindOfObject } from "../minimize/kind-of-object.js";
import type { FoundViolation, FuzzReport } from "./fuzz-report.js";
import { LARGEST_SEED, type MakePlan, planNamed } from "./plan-name.js";
import { type PlanRun, CampaignResults } from "./campaign-results.js";

/** Runs plans in other threads, or in this one. */
export interface FuzzWorkers {
  /** Maximum number of concurrent runs. */
  readonly count: number;
  run(plan: FaultPlan): Promise<Outcome>;
}

export interface CampaignOptions {
  /** The first and the last seed, both included. */
  readonly seeds: { readonly from: number; readonly to: number };
  readonly makePlan: MakePlan;
  readonly workers: FuzzWorkers;
  /** Names of states that some plan has to cover. Default: none. */
  readonly sometimes?: readonly string[];
  /** Whether to minimise the first plan of each violation. Default: false. */
  readonly minimize?: boolean;
  /** Maximum number of plans to run per minimisation. Default: 1000. */
  readonly minimizeBudget?: number;
  /** Report of an earlier campaign to continue. */
  readonly resume?: FuzzReport;
  /**
   * Seeds per round. The coverage of a round decides which plans the next round mutates. So a round depends neither on
   * the workers nor on the order in which runs end. Default: 64.
   */
  readonly roundSeeds?: number;
  /** Starts no new round after this time of the clock. Default: runs all seeds. */
  readonly forMs?: number;
  /** With `forMs`: the clock that measures it. */
  readonly clock?: Pick<Clock, "now">;
  readonly onProgress?: (progress: CampaignProgress) => void;
  /** Ends the campaign early; the report has the results so far. */
  readonly signal?: AbortSignal;
}

export interface CampaignProgress {
  readonly phase: "playing" | "minimizing";
  /** Number of plans run. */
  readonly plansRun: number;
  /** From 0 to 1: fraction of the seeds or of the time, whichever is larger. */
  readonly fraction: number;
  /** Number of distinct violations, by invariant and kind of object. */
  readonly violations: number;
}

const ROUND_SEEDS = 64;
/** One mutated plan per this number of seeds. */
const SEEDS_PER_CHANGED = 4;

/**
 * Runs the plan of every seed, and mutations of the plans that covered something new. The results do not depend on the
 * number of workers.
 *
 * @throws Error when `resume` is a report of other seeds.
 */
export async function runCampaign(options: CampaignOptions): Promise<FuzzReport> {
  const { seeds, makePlan, workers, resume, sometimes = [], forMs, clock, onProgress, signal } = options;
  const rounds: Rounds = { ...seeds, size: options.roundSeeds ?? ROUND_SEEDS };
  if (resume !== undefined && (resume.seeds.from !== seeds.from || resume.next > seeds.to + 1))
    throw new Error(`the report to resume is of seeds ${resume.seeds.from}-${resume.seeds.to}`);
  const results = new CampaignResults(resume);
  const begunMs = clock?.now() ?? 0;
  const elapsedMs = (): number => (clock?.now() ?? 0) - begunMs;
  const isOver = (): boolean => signal?.aborted === true || (forMs !== undefined && elapsedMs() >= forMs);
  const count = seeds.to - seeds.from + 1;
  let next = resume?.next ?? seeds.from;
  while (next <= seeds.to && !isOver()) {
    const names = roundOf(next, rounds, results.corpus);
    const before = results.plansRun;
    let ended = 0;
    const runs = await runAll(names, makePlan, workers, signal, () => {
      ended++;
      const bySeeds = (next - seeds.from + (ended / names.length) * (roundEnd(next, rounds) - next + 1)) / count;
      const byTime = forMs === undefined ? 0 : elapsedMs() / forMs;
      onProgress?.({
        phase: "playing",
        plansRun: before + ended,
        fraction: Math.min(1, Math.max(bySeeds, byTime)),
        violations: results.violations.length,
      });
    });
    if (runs.length < names.length) {
      for (const each of runs) results.addViolations(each);
      break;
    }
    for (const each of runs) results.add(each);
    next = roundEnd(next, rounds) + 1;
  }
  if (options.minimize === true) await minimizeAll(results, options);
  return results.report(seeds, next, sometimes);
}

interface Rounds {
  readonly from: number;
  readonly to: number;
  readonly size: number;
}

/** Returns the last seed of a seed's round. Rounds have the same boundaries after an interruption. */
function roundEnd(seed: number, { from, to, size }: Rounds): number {
  return Math.min(to, seed + size - 1 - ((seed - from) % size));
}

function roundOf(first: number, rounds: Rounds, corpus: readonly string[]): string[] {
  const last = roundEnd(first, rounds);
  const names = Array.from({ length: last - first + 1 }, (_, index) => String(first + index));
  if (corpus.length === 0) return names;
  const round = Math.floor((first - rounds.from) / rounds.size);
  const count = Math.ceil(rounds.size / SEEDS_PER_CHANGED);
  // The newest plans first: they are more interesting than plans that were mutated many times.
  const changed = Array.from({ length: count }, (_, index) => {
    const place = (round * count + index) % corpus.length;
    const number = (round * count + index + 1) % LARGEST_SEED;
    return `${corpus[corpus.length - 1 - place]}+${number}`;
  });
  return [...names, ...new Set(changed)];
}

/** Runs the plans and returns the runs in the order of the names; fewer when aborted. */
async function runAll(
  names: readonly string[],
  makePlan: MakePlan,
  workers: FuzzWorkers,
  signal: AbortSignal | undefined,
  onRun: () => void,
): Promise<PlanRun[]> {
  const runs = new Map<number, PlanRun>();
  let stop = (): void => {};
  const stopped = new Promise<undefined>((resolve) => {
    stop = () => resolve(undefined);
  });
  signal?.addEventListener("abort", stop);
  let next = 0;
  const lane = async (): Promise<void> => {
    while (next < names.length && signal?.aborted !== true) {
      const index = next++;
      const name = names[index]!;
      const plan = planNamed(name, makePlan)!;
      const outcome = await Promise.race([runOrReport(workers, plan), stopped]);
      if (outcome === undefined) return;
      runs.set(index, { name, plan, outcome });
      onRun();
    }
  };
  await Promise.all(Array.from({ length: workers.count }, lane));
  signal?.removeEventListener("abort", stop);
  return [...runs].toSorted(([a], [b]) => a - b).map(([, each]) => each);
}

/** Runs a plan. A plan that fails to run is reported like a violation, so that the campaign continues. */
async function runOrReport(workers: Pick<FuzzWorkers, "run">, plan: FaultPlan): Promise<Outcome> {
  try {
    return await workers.run(plan);
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    return {
      violations: [{ invariant: RUN_COMPLETES, subject: "Plan", message, atMs: Date.parse(plan.start) }],
      covered: [],
      hash: "",
      settled: {},
      figures: { requests: 0, writes: 0, virtualMs: 0 },
    };
  }
}

const RUN_COMPLETES = "runs to its end";

async function minimizeAll(results: CampaignResults, options: CampaignOptions): Promise<void> {
  const { workers, minimizeBudget, signal, onProgress } = options;
  const todo = results.violations.filter(({ minimized }) => minimized === undefined);
  let ended = 0;
  const lane = async (): Promise<void> => {
    for (let found = todo.shift(); found !== undefined; found = todo.shift()) {
      if (signal?.aborted === true) return;
      const all = ended + todo.length + 1;
      const { plan, violation, plansRun, isMinimal } = await minimize(found.plan, failsLike(found, workers), {
        ...(minimizeBudget === undefined ? {} : { budget: minimizeBudget }),
        ...(signal === undefined ? {} : { signal }),
        onProgress: ({ plansRun: tried }) =>
          onProgress?.({
            phase: "minimizing",
            plansRun: tried,
            fraction: ended / all,
            violations: results.violations.length,
          }),
      });
      ended++;
      // An aborted minimisation still has a smaller plan.
      results.addMinimized(found, { plan, violation, plansRun, isMinimal });
    }
  };
  await Promise.all(Array.from({ length: workers.count }, lane));
}

/**
 * Returns a test for minimisation: it runs a plan and returns the violation with the same invariant and kind, or else
 * the first one.
 */
export function failsLike(
  { invariant, kind }: Pick<FoundViolation, "invariant" | "kind">,
  workers: Pick<FuzzWorkers, "run">,
): (plan: FaultPlan) => Promise<FoundViolation["violation"] | undefined> {
  return async (plan) => {
    const { violations } = await runOrReport(workers, plan);
    return (
      violations.find((each) => each.invariant === invariant && kindOfObject(each.subject) === kind) ?? violations[0]
    );
  };
}
