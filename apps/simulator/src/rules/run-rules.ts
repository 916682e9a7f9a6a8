import type { Mishap } from "../futures/mishap.js";
import { MishapCounter } from "../futures/mishap-counter.js";
import type { Peaks } from "../futures/pod-peaks.js";
import type { Selection } from "../selection.js";
import type { TimelineListener } from "../timeline/kept-rows.js";
import { UserError } from "../user-error.js";
import type { Rule } from "./rule.js";
import { type HeldFuture, RuleTally, type Violation, violationText } from "./rule-tally.js";
import { ViolationsError } from "./violations-error.js";

/** What of a future has to be counted to know whether rules are broken. */
export function countedFor(rules: readonly Rule[]): { readonly mishaps: Mishap[]; readonly selections: Selection[] } {
  return {
    mishaps: rules.flatMap(({ what }) => (what.type === "run" ? [what.mishap] : [])),
    selections: rules.flatMap(({ what, selection }) => (what.type === "pods" ? [selection] : [])),
  };
}

/** Holds the one future that is being played against rules. */
export class RunRules {
  readonly #rules: readonly Rule[];
  readonly #counter: MishapCounter;

  constructor(rules: readonly Rule[]) {
    this.#rules = rules;
    this.#counter = new MishapCounter(countedFor(rules).mishaps);
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
export function violationsOf(rules: readonly Rule[], future: HeldFuture): Violation[] {
  const tally = new RuleTally(rules);
  tally.add(future);
  return tally.violations;
}

/** @throws UserError for rules about a share of the futures, where one is played. */
export function checkForOneFuture(rules: readonly Rule[], hint: string): void {
  for (const { text, mostFutures } of rules)
    if (mostFutures !== undefined)
      throw new UserError(`--fail-on: ${JSON.stringify(text)} is about a share of many futures: ${hint}`);
}

/** @throws ViolationsError when there are any. */
export function throwViolations(violations: readonly Violation[]): void {
  if (violations.length > 0) throw new ViolationsError(violations.map(violationText));
}
