import type { Figures } from "../outcome.js";
import type { FaultPlan } from "../fault-plan.js";
import type { InvariantViolation } from "../invariant.js";

/** Results of a campaign as plain data; sufficient to resume it. */
export interface FuzzReport {
  readonly fuzzVersion: 1;
  /** The requested seeds, both ends included. */
  readonly seeds: { readonly from: number; readonly to: number };
  /** The seed to resume with; `to` + 1 when all were run. */
  readonly next: number;
  /** Plans run: one per seed, and the mutated ones. */
  readonly plansRun: number;
  /** One per invariant and kind of object, in the order of discovery. */
  readonly violations: readonly FoundViolation[];
  /** By name: number of plans that covered it, and the first of them. */
  readonly covered: Readonly<Record<string, CoverageEntry>>;
  /** Required states that no plan has covered. */
  readonly neverCovered: readonly string[];
  /** Names of the plans that covered something new, in order: the candidates for mutation. */
  readonly corpus: readonly string[];
  readonly figures: Figures;
}

export interface CoverageEntry {
  readonly plans: number;
  readonly first: string;
}

export interface FoundViolation {
  readonly invariant: string;
  /** Kind of the object, such as `Job`. */
  readonly kind: string;
  /** The violation in the first plan. */
  readonly violation: InvariantViolation;
  /** Name of the first plan: `7`, or `7+3` for a mutated one. */
  readonly name: string;
  readonly plan: FaultPlan;
  /** Number of plans with this violation. */
  readonly plans: number;
  /** Names of some other plans with it. */
  readonly others: readonly string[];
  readonly minimized?: MinimizedViolation;
}

export interface MinimizedViolation {
  readonly plan: FaultPlan;
  readonly violation: InvariantViolation;
  readonly plansRun: number;
  /** Whether nothing more can be removed. */
  readonly isMinimal: boolean;
}
