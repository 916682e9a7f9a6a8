import type { FaultPlan } from "../fault-plan.js";
import type { InvariantViolation } from "../invariant.js";
import type { Outcome } from "../outcome.js";
import { kindOfObject } from "../minimize/kind-of-object.js";
import type { FoundViolation, FuzzReport, MinimizedViolation, CoverageEntry } from "./fuzz-report.js";
import { changesOf } from "./plan-name.js";

/** A plan and the outcome of its run. */
export interface PlanRun {
  readonly name: string;
  readonly plan: FaultPlan;
  readonly outcome: Outcome;
}

/** More names of plans with the same violation give no more information. */
const MAX_OTHERS = 20;
/** A plan with more mutations no longer resembles a generated one, and is hard to read. */
const MAX_CHANGES = 3;

/** Accumulates the outcomes of runs; the results depend only on their order. */
export class CampaignResults {
  readonly #violations: Map<string, FoundViolation>;
  readonly #covered: Map<string, CoverageEntry>;
  readonly #corpus: string[];
  #plansRun: number;
  #figures: FuzzReport["figures"];

  /** @param before - Report of the campaign to resume. */
  constructor(before?: FuzzReport) {
    this.#violations = new Map(before?.violations.map((found) => [keyOf(found), found]));
    this.#covered = new Map(Object.entries(before?.covered ?? {}));
    this.#corpus = [...(before?.corpus ?? [])];
    this.#plansRun = before?.plansRun ?? 0;
    this.#figures = before?.figures ?? { requests: 0, writes: 0, virtualMs: 0 };
  }

  get corpus(): readonly string[] {
    return this.#corpus;
  }

  get violations(): readonly FoundViolation[] {
    return [...this.#violations.values()];
  }

  get plansRun(): number {
    return this.#plansRun;
  }

  add(run: PlanRun): void {
    const { name, outcome } = run;
    this.addViolations(run);
    this.#count(run);
    this.#plansRun++;
    const { requests, writes, virtualMs, handovers = 0 } = this.#figures;
    const more = outcome.figures;
    this.#figures = {
      requests: requests + more.requests,
      writes: writes + more.writes,
      virtualMs: virtualMs + more.virtualMs,
      ...(more.handovers === undefined ? {} : { handovers: handovers + more.handovers }),
    };
    let isNew = false;
    for (const covered of outcome.covered) {
      const before = this.#covered.get(covered);
      isNew ||= before === undefined;
      this.#covered.set(covered, { plans: (before?.plans ?? 0) + 1, first: before?.first ?? name });
    }
    if (isNew && changesOf(name) < MAX_CHANGES) this.#corpus.push(name);
  }

  /** Adds new violations without counting the run: the plan is run again when the campaign is resumed. */
  addViolations({ name, plan, outcome }: PlanRun): void {
    for (const [key, violation] of firstOfEach(outcome.violations)) {
      if (this.#violations.has(key)) continue;
      const { invariant, subject } = violation;
      const kind = kindOfObject(subject);
      this.#violations.set(key, { invariant, kind, violation, name, plan, plans: 1, others: [] });
    }
  }

  #count({ name, outcome }: PlanRun): void {
    for (const key of firstOfEach(outcome.violations).keys()) {
      const before = this.#violations.get(key)!;
      if (before.name === name) continue;
      const others = before.others.length < MAX_OTHERS ? [...before.others, name] : before.others;
      this.#violations.set(key, { ...before, plans: before.plans + 1, others });
    }
  }

  addMinimized(found: FoundViolation, minimized: MinimizedViolation): void {
    const key = keyOf(found);
    this.#violations.set(key, { ...this.#violations.get(key)!, minimized });
  }

  report(seeds: FuzzReport["seeds"], next: number, sometimes: readonly string[]): FuzzReport {
    const covered = [...this.#covered].toSorted(([a], [b]) => (a < b ? -1 : 1));
    return {
      fuzzVersion: 1,
      seeds,
      next,
      plansRun: this.#plansRun,
      violations: this.violations,
      covered: Object.fromEntries(covered),
      neverCovered: sometimes.filter((name) => !this.#covered.has(name)),
      corpus: this.#corpus,
      figures: this.#figures,
    };
  }
}

function firstOfEach(violations: readonly InvariantViolation[]): Map<string, InvariantViolation> {
  const first = new Map<string, InvariantViolation>();
  for (const violation of violations) {
    const key = keyOf({ invariant: violation.invariant, kind: kindOfObject(violation.subject) });
    if (!first.has(key)) first.set(key, violation);
  }
  return first;
}

function keyOf({ invariant, kind }: Pick<FoundViolation, "invariant" | "kind">): string {
  return `${invariant} of a ${kind}`;
}
