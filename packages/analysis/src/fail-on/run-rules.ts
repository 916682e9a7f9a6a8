import type { Incident } from "../futures/incident.js";
import { IncidentCounter } from "../futures/incident-counter.js";
import type { Peaks } from "../futures/pod-peaks.js";
import type { Selection } from "../input/selection.js";
import type { TimelineListener } from "../timeline/bounded-rows.js";
import { UserError } from "../errors/user-error.js";
import type { Rule } from "./rule.js";
import { type CheckedFuture, RuleCounts, type Violation } from "./rule-counts.js";

/** Returns the incidents and selections that must be counted to check the rules. */
export function countsNeededFor(rules: readonly Rule[]): {
  readonly incidents: Incident[];
  readonly selections: Selection[];
} {
  return {
    incidents: rules.flatMap(({ condition }) => (condition.type === "run" ? [condition.incident] : [])),
    selections: rules.flatMap(({ condition, selection }) => (condition.type === "pods" ? [selection] : [])),
  };
}

/** Checks rules in the one future that is being simulated. */
export class RunRules {
  readonly #rules: readonly Rule[];
  readonly #counter: IncidentCounter;

  constructor(rules: readonly Rule[]) {
    this.#rules = rules;
    this.#counter = new IncidentCounter(countsNeededFor(rules).incidents);
  }

  get listener(): TimelineListener {
    return this.#counter;
  }

  /**
   * Returns the violations. Call this once, after the simulation.
   *
   * @param future.peaks - With the pods of the selections that `countsNeededFor` returns.
   */
  violations({
    seed,
    endMs,
    peaks,
  }: {
    readonly seed: number;
    readonly endMs: number;
    readonly peaks: Pick<Peaks, "selected">;
  }): Violation[] {
    return violationsOf(this.#rules, { seed, groups: this.#counter.groups(endMs), peaks });
  }
}

/** Returns the violations in one future. */
export function violationsOf(rules: readonly Rule[], future: CheckedFuture): Violation[] {
  const counts = new RuleCounts(rules);
  counts.add(future);
  return counts.violations;
}

/** @throws UserError for rules about a share of the futures, when only one future is simulated. */
export function rejectShareRules(rules: readonly Rule[], hint: string): void {
  for (const { text, maxShare } of rules)
    if (maxShare !== undefined)
      throw new UserError(`--fail-on: ${JSON.stringify(text)} limits the share of many futures: ${hint}`);
}
