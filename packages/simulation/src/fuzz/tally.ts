import type { FaultPlan } from "../fault-plan.js";
import type { Violation } from "../invariant.js";
import type { Outcome } from "../outcome.js";
import { kindOfObject } from "../minimize/kind-of-object.js";
import type { FoundViolation, FuzzReport, MinimizedViolation, Reached } from "./fuzz-report.js";
import { changesOf } from "./plan-name.js";

/** A plan that was played. */
export interface Played {
  readonly name: string;
  readonly plan: FaultPlan;
  readonly outcome: Outcome;
}

/** More names of plans that went wrong in the same way would tell nobody anything. */
const MOST_OTHERS = 20;
/** A plan that was changed more often is no longer like the one that somebody can read. */
const MOST_CHANGES = 3;

/** Counts what plans have come to; what it answers depends on their order alone. */
export class Tally {
  readonly #violations: Map<string, FoundViolation>;
  readonly #reached: Map<string, Reached>;
  readonly #corpus: string[];
  #plays: number;
  #figures: FuzzReport["figures"];

  /** @param before - What to go on with. */
  constructor(before?: FuzzReport) {
    this.#violations = new Map(before?.violations.map((found) => [keyOf(found), found]));
    this.#reached = new Map(Object.entries(before?.reached ?? {}));
    this.#corpus = [...(before?.corpus ?? [])];
    this.#plays = before?.plays ?? 0;
    this.#figures = before?.figures ?? { requests: 0, writes: 0, virtualMs: 0 };
  }

  get corpus(): readonly string[] {
    return this.#corpus;
  }

  get violations(): readonly FoundViolation[] {
    return [...this.#violations.values()];
  }

  get plays(): number {
    return this.#plays;
  }

  add(played: Played): void {
    const { name, outcome } = played;
    this.announce(played);
    this.#count(played);
    this.#plays++;
    const { requests, writes, virtualMs, handOvers = 0 } = this.#figures;
    const more = outcome.figures;
    this.#figures = {
      requests: requests + more.requests,
      writes: writes + more.writes,
      virtualMs: virtualMs + more.virtualMs,
      ...(more.handOvers === undefined ? {} : { handOvers: handOvers + more.handOvers }),
    };
    let isNew = false;
    for (const reached of outcome.reached) {
      const before = this.#reached.get(reached);
      isNew ||= before === undefined;
      this.#reached.set(reached, { plans: (before?.plans ?? 0) + 1, first: before?.first ?? name });
    }
    if (isNew && changesOf(name) < MOST_CHANGES) this.#corpus.push(name);
  }

  /** Tells of what is new, and counts nothing: the plan will be played again when the campaign is gone on with. */
  announce({ name, plan, outcome }: Played): void {
    for (const [key, violation] of firstOfEach(outcome.violations)) {
      if (this.#violations.has(key)) continue;
      const { invariant, about } = violation;
      const kind = kindOfObject(about);
      this.#violations.set(key, { invariant, kind, violation, name, plan, plans: 1, others: [] });
    }
  }

  #count({ name, outcome }: Played): void {
    for (const key of firstOfEach(outcome.violations).keys()) {
      const before = this.#violations.get(key)!;
      if (before.name === name) continue;
      const others = before.others.length < MOST_OTHERS ? [...before.others, name] : before.others;
      this.#violations.set(key, { ...before, plans: before.plans + 1, others });
    }
  }

  addMinimized(found: FoundViolation, minimized: MinimizedViolation): void {
    const key = keyOf(found);
    this.#violations.set(key, { ...this.#violations.get(key)!, minimized });
  }

  report(seeds: FuzzReport["seeds"], next: number, sometimes: readonly string[]): FuzzReport {
    const reached = [...this.#reached].toSorted(([a], [b]) => (a < b ? -1 : 1));
    return {
      fuzzVersion: 1,
      seeds,
      next,
      plays: this.#plays,
      violations: this.violations,
      reached: Object.fromEntries(reached),
      neverReached: sometimes.filter((name) => !this.#reached.has(name)),
      corpus: this.#corpus,
      figures: this.#figures,
    };
  }
}

function firstOfEach(violations: readonly Violation[]): Map<string, Violation> {
  const first = new Map<string, Violation>();
  for (const violation of violations) {
    const key = keyOf({ invariant: violation.invariant, kind: kindOfObject(violation.about) });
    if (!first.has(key)) first.set(key, violation);
  }
  return first;
}

function keyOf({ invariant, kind }: Pick<FoundViolation, "invariant" | "kind">): string {
  return `${invariant} of a ${kind}`;
}
