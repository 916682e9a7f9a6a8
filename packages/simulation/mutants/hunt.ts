/**
 * Searches for a seed whose plan distinguishes code with a bug from code without it. A violation in both is no finding
 * about the bug.
 */
import type * as simulation from "../src/index.js";
import type { FaultPlan, Invariant, Outcome, InvariantViolation } from "../src/index.js";

/** The exports of the simulation's entry module that a hunt uses. */
export type Simulation = Pick<
  typeof simulation,
  "builtInInvariants" | "generatePlan" | "generateShardedPlan" | "minimize" | "runPlan" | "runAndCompare"
>;

export interface HuntOptions {
  readonly mutated: Simulation;
  readonly unmutated: Simulation;
  /** The first seed, and the maximum number of seeds. */
  readonly from: number;
  readonly seeds: number;
  /** Number of controller managers that share the work. Default: no sharding. */
  readonly sharding?: number | undefined;
  /** Patterns that a plan's JSON must match to be run; other seeds are counted without a run. */
  readonly inPlan?: readonly RegExp[];
  /**
   * Whether to compare each run with a fault-free run, as `kubewright fuzz` does. This catches more, and takes twice as
   * long.
   */
  readonly compare?: boolean;
  /** Numbers of invariants to leave out: `S17`. */
  readonly without?: readonly string[];
  /** Called before each seed; returns whether to stop. */
  readonly isOver?: () => boolean;
}

export interface Hunt {
  /** Number of seeds checked, and how many of their plans were run. */
  readonly seeds: number;
  readonly plansRun: number;
  readonly caught?: Caught;
  /** Seeds for which the code without the bug has the same violation. */
  readonly alsoUnmutated: readonly { readonly seed: number; readonly violation: InvariantViolation }[];
}

export interface Caught {
  readonly seed: number;
  /** Number of seeds that it took, including this one. */
  readonly after: number;
  readonly violation: InvariantViolation;
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
  /** Whether nothing more can be removed. */
  readonly isMinimal: boolean;
  readonly plan: FaultPlan;
}

/** Minimises the plan of a seed that was caught, with the same violation by the code with the bug. */
export async function minimiseCaught(
  { seed, violation }: Caught,
  options: Pick<HuntOptions, "mutated" | "compare" | "without" | "sharding"> & { readonly maxRuns: number },
): Promise<Minimised> {
  const { mutated, maxRuns: budget } = options;
  const fails = async (plan: FaultPlan): Promise<InvariantViolation | undefined> =>
    (await findViolations(mutated, plan, { ...options, first: true })).find((each) => isAlike(each, violation));
  const { plan, plansRun, isMinimal } = await mutated.minimize(planOf(seed, options), fails, { budget });
  return { events: plan.events?.length ?? 0, manifests: plan.manifests.length, plansRun, isMinimal, plan };
}

/** The title that campaigns use for a plan that fails to run. */
const RUN_COMPLETES = "runs to its end";

interface FindViolationsOptions extends Pick<HuntOptions, "compare" | "without"> {
  /** Whether to stop at the first violation. */
  readonly first?: boolean;
}

async function findViolations(
  { runPlan, runAndCompare, builtInInvariants }: Simulation,
  plan: FaultPlan,
  { compare = false, without = [], first = false }: FindViolationsOptions,
): Promise<readonly InvariantViolation[]> {
  const isOn = ({ name }: Pick<Invariant, "name">): boolean => !without.includes(name.split(" ", 1)[0]!);
  const invariants = builtInInvariants.filter(isOn);
  const runOnce = (each: FaultPlan): Promise<Outcome> => runPlan(each, { invariants, stopAtFirstViolation: first });
  const { violations } = await (compare ? runAndCompare(plan, runOnce) : runOnce(plan)).catch((error: Error) => ({
    violations: [{ invariant: RUN_COMPLETES, subject: "Plan", message: error.message, atMs: 0 }],
  }));
  return violations.filter(({ invariant }) => isOn({ name: invariant }));
}

/** Reports whether two violations have the same invariant and kind of object. */
function isAlike(a: InvariantViolation, b: InvariantViolation): boolean {
  return a.invariant === b.invariant && a.subject.split(" ", 1)[0] === b.subject.split(" ", 1)[0];
}
