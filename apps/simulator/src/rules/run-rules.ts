import type { Incident } from "../futures/incident.js";
import { IncidentCounter } from "../futures/incident-counter.js";
import type { Peaks } from "../futures/pod-peaks.js";
import type { Selection } from "../selection.js";
import type { TimelineListener } from "../timeline/bounded-rows.js";
import { UserError } from "../user-error.js";
import type { Rule } from "./rule.js";
import { type CheckedFuture, RuleCounts, type Violation, violationText } from "./rule-counts.js";
import { ViolationsError } from "./violations-error.js";

/** What of a future has to be counted to know whether rules are broken. */
export function countsNeededFor(rules: readonly Rule[]): {
  readonly incidents: Incident[];
  readonly selections: Selection[];
} {
  return {
    incidents: rules.flatMap(({ condition }) => (condition.type === "run" ? [condition.incident] : [])),
    selections: rules.flatMap(({ condition, selection }) => (condition.type === "pods" ? [selection] : [])),
  };
}

/** Holds the one future that is being played against rules. */
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
   * Those that were broken. To be asked once, when all has been played.
   *
   * @param future.peaks - With the pods of the selections that `countedFor` tells.
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

/** Those that one future has broken. */
export function violationsOf(rules: readonly Rule[], future: CheckedFuture): Violation[] {
  const counts = new RuleCounts(rules);
  counts.add(future);
  return counts.violations;
}

/** @throws UserError for rules about a share of the futures, where one is played. */
export function rejectShareRules(rules: readonly Rule[], hint: string): void {
  for (const { text, maxShare } of rules)
    if (maxShare !== undefined)
      throw new UserError(`--fail-on: ${JSON.stringify(text)} limits the share of many futures: ${hint}`);
}

/** @throws ViolationsError when there are any. */
export function throwViolations(violations: readonly Violation[]): void {
  if (violations.length > 0) throw new ViolationsError(violations.map(violationText));
}
