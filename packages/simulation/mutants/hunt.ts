/**
 * Looks for a seed whose plan tells code with a bug from code without: what both are accused of is no finding about the bug.
 */
import type * as simulation from "../src/index.js";
import type { FaultPlan, Invariant, Outcome, Violation } from "../src/index.js";

/** What a bundle of the simulation's entry module exports, as far as a hunt uses it. */
export type Simulation = Pick<
  typeof simulation,
  "builtInInvariants" | "generatePlan" | "generateShardedPlan" | "minimize" | "runPlan" | "runAndCompare"
>;

export interface HuntOptions {
  readonly mutated: Simulation;
  readonly unmutated: Simulation;
  /** The first seed, and how many at most. */
  readonly from: number;
  readonly seeds: number;
  /** How many controller managers share the work. Default: none do. */
  readonly sharding?: number | undefined;
  /** What a plan's text matches if it is worth playing: others count, and are not played. */
  readonly inPlan?: readonly RegExp[];
  /** Whether each plan is played without its faults too, as `kubewright fuzz` does. Catches more, and takes twice as long. */
  readonly compare?: boolean;
  /** Names of invariants that are left out: `S17`. */
  readonly without?: readonly string[];
  /** Asked before each seed: whether no time is left. */
  readonly isOver?: () => boolean;
}

export interface Hunt {
  /** How many seeds were looked at, and how many of them played. */
  readonly seeds: number;
  readonly plansRun: number;
  readonly caught?: Caught;
  /** Seeds for which the code without the bug is accused of the same. */
  readonly alsoUnmutated: readonly { readonly seed: number; readonly violation: Violation }[];
}

export interface Caught {
  readonly seed: number;
  /** How many seeds it took, that one among them. */
  readonly after: number;
  readonly violation: Violation;
}

export async function hunt(options: HuntOptions): Promise<Hunt> {
  const { mutated, unmutated, from, inPlan = [], isOver = () => false } = options;
  const alsoUnmutated: Hunt["alsoUnmutated"][number][] = [];
  let seeds = 0;
  let plansRun = 0;
  while (seeds < options.seeds && !isOver()) {
    const seed = (from + seeds++) % SEEDS;
    const plan = planOf(seed, options);
    const text = JSON.stringify(plan);
    if (!inPlan.every((pattern) => pattern.test(text))) continue;
    plansRun++;
    const [violation] = await findViolations(mutated, plan, { ...options, first: true });
    if (violation === undefined) continue;
    const sound = await findViolations(unmutated, plan, options);
    if (!sound.some((other) => isAlike(other, violation)))
      return { seeds, plansRun, caught: { seed, after: seeds, violation }, alsoUnmutated };
    alsoUnmutated.push({ seed, violation });
  }
  return { seeds, plansRun, alsoUnmutated };
}

function planOf(seed: number, { mutated, sharding }: Pick<HuntOptions, "mutated" | "sharding">): FaultPlan {
  return sharding === undefined
    ? mutated.generatePlan(seed)
    : mutated.generateShardedPlan(seed, { managers: sharding });
}

const SEEDS = 2 ** 32;

export interface Minimised {
  readonly events: number;
  readonly manifests: number;
  readonly plansRun: number;
  /** Whether nothing more can be left out. */
  readonly isMinimal: boolean;
  readonly plan: FaultPlan;
}

/** Makes the plan of a seed that was caught smaller, as long as the code with the bug goes wrong in the same way. */
export async function minimiseCaught(
  { seed, violation }: Caught,
  options: Pick<HuntOptions, "mutated" | "compare" | "without" | "sharding"> & { readonly maxRuns: number },
): Promise<Minimised> {
  const { mutated, maxRuns: budget } = options;
  const fails = async (plan: FaultPlan): Promise<Violation | undefined> =>
    (await findViolations(mutated, plan, { ...options, first: true })).find((each) => isAlike(each, violation));
  const { plan, plansRun, isMinimal } = await mutated.minimize(planOf(seed, options), fails, { budget });
  return { events: plan.events?.length ?? 0, manifests: plan.manifests.length, plansRun, isMinimal, plan };
}

/** What a plan breaks that cannot be played to its end, as campaigns call it. */
const RUN_COMPLETES = "runs to its end";

interface FindViolationsOptions extends Pick<HuntOptions, "compare" | "without"> {
  /** Whether to stop at the first. */
  readonly first?: boolean;
}

async function findViolations(
  { runPlan, runAndCompare, builtInInvariants }: Simulation,
  plan: FaultPlan,
  { compare = false, without = [], first = false }: FindViolationsOptions,
): Promise<readonly Violation[]> {
  const isOn = ({ name }: Pick<Invariant, "name">): boolean => !without.includes(name.split(" ", 1)[0]!);
  const invariants = builtInInvariants.filter(isOn);
  const runOnce = (each: FaultPlan): Promise<Outcome> => runPlan(each, { invariants, stopAtFirstViolation: first });
  const { violations } = await (compare ? runAndCompare(plan, runOnce) : runOnce(plan)).catch((error: Error) => ({
    violations: [{ invariant: RUN_COMPLETES, subject: "Plan", message: error.message, atMs: 0 }],
  }));
  return violations.filter(({ invariant }) => isOn({ name: invariant }));
}

/** Of the same invariant, about an object of the same kind. */
function isAlike(a: Violation, b: Violation): boolean {
  return a.invariant === b.invariant && a.subject.split(" ", 1)[0] === b.subject.split(" ", 1)[0];
}
