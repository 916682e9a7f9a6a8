import type { Figures } from "../outcome.js";
import type { FaultPlan } from "../fault-plan.js";
import type { Violation } from "../invariant.js";

/** What a campaign has found, as plain data: all it takes to go on with it. */
export interface FuzzReport {
  readonly fuzzVersion: 1;
  /** The seeds that were asked for, both among them. */
  readonly seeds: { readonly from: number; readonly to: number };
  /** The seed to go on with; `to` + 1 when all were played. */
  readonly next: number;
  /** Plans played: one for each seed, and changed ones. */
  readonly plansRun: number;
  /** One for each invariant and kind of object, in the order in which they were found. */
  readonly violations: readonly FoundViolation[];
  /** By name: in how many plans it came up, and which was the first. */
  readonly covered: Readonly<Record<string, CoverageEntry>>;
  /** What should come up in some plan, and has not. */
  readonly neverCovered: readonly string[];
  /** Names of the plans that reached something new, in their order: those that are changed. */
  readonly corpus: readonly string[];
  readonly figures: Figures;
}

export interface CoverageEntry {
  readonly plans: number;
  readonly first: string;
}

export interface FoundViolation {
  readonly invariant: string;
  /** `Job` */
  readonly kind: string;
  /** Of the first plan. */
  readonly violation: Violation;
  /** `7`, or `7+3` for one that was changed. */
  readonly name: string;
  readonly plan: FaultPlan;
  /** In how many plans. */
  readonly plans: number;
  /** The names of some more of them. */
  readonly others: readonly string[];
  readonly minimized?: MinimizedViolation;
}

export interface MinimizedViolation {
  readonly plan: FaultPlan;
  readonly violation: Violation;
  readonly plansRun: number;
  /** Whether nothing more could be left out. */
  readonly isMinimal: boolean;
}
