import type { RunListener, World } from "./world.js";

/**
 * Something that has to hold, whatever goes wrong. Made anew for every run, so that it may remember.
 *
 * Of what it is told nothing may be changed, and nothing is told late: the checks run when it happens.
 */
export interface Invariant {
  /** `S1 counted once` */
  readonly name: string;
  /** What holds, in a sentence. */
  readonly sentence: string;
  readonly watch: (world: World, violated: Violated) => InvariantChecks;
}

/** @param about - The object: `Job default/pi`. */
export type Violated = (subject: string, message: string) => void;

export interface InvariantChecks extends RunListener {
  /** Every so often, in virtual time, and after the last fault more often: what has to happen within a bound. */
  readonly onTick?: () => void;
  /** At the end: everything has had its time to settle. */
  readonly atRest?: () => void;
}

/** An invariant that did not hold. */
export interface Violation {
  readonly invariant: string;
  readonly subject: string;
  readonly message: string;
  readonly atMs: number;
}
