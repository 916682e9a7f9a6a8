import type { Mishap } from "../futures/mishap.js";
import { MishapCounter } from "../futures/mishap-counter.js";
import { PodPeaks } from "../futures/pod-peaks.js";
import type { Selection } from "../selection.js";
import type { TimelineListener } from "../timeline/kept-rows.js";
import type { TraceRecord } from "../trace.js";
import type { Rule } from "./rule.js";
import { RuleTally, type Violation, violationText } from "./rule-tally.js";
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
  readonly #pods: PodPeaks;

  constructor(rules: readonly Rule[]) {
    const { mishaps, selections } = countedFor(rules);
    this.#rules = rules;
    this.#counter = new MishapCounter(mishaps);
    this.#pods = new PodPeaks(selections);
  }

  get listener(): TimelineListener {
    return this.#counter;
  }

  add(record: TraceRecord): void {
    this.#pods.add(record);
  }

  /** Those that were broken. To be asked once, when all has been played. */
  violations({ seed, endMs }: { readonly seed: number; readonly endMs: number }): Violation[] {
    const tally = new RuleTally(this.#rules);
    tally.add({ seed, groups: this.#counter.groups(endMs), peaks: this.#pods.peaks, nodesNeeded: [] });
    return tally.violations;
  }
}

/** @throws ViolationsError when there are any. */
export function throwViolations(violations: readonly Violation[]): void {
  if (violations.length > 0) throw new ViolationsError(violations.map(violationText));
}
