import type { RunListener, World } from "./world.js";

/**
 * A property that has to hold in every run, with any faults. `watch` is called once per run, so checks may keep state.
 *
 * Checks must not modify what they receive. They run synchronously with each event.
 */
export interface Invariant {
  /** Number and title: `S1 counted once`. */
  readonly name: string;
  /** The property, in a sentence. */
  readonly sentence: string;
  readonly watch: (world: World, violated: Violated) => InvariantChecks;
}

/** @param subject - The object: `Job default/pi`. */
export type Violated = (subject: string, message: string) => void;

export interface InvariantChecks extends RunListener {
  /** Called at regular virtual times: for properties with a time bound. */
  readonly onTick?: () => void;
  /** Called at the end, when the cluster has had time to quiesce. */
  readonly atRest?: () => void;
}

/** A violated invariant. */
export interface InvariantViolation {
  readonly invariant: string;
  readonly subject: string;
  readonly message: string;
  readonly atMs: number;
}
