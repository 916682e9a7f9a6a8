import type { Violation } from "./invariant.js";

/** What became of a run. Plain data. */
export interface Outcome {
  /** The first of each invariant and object, in the order in which they were found. */
  readonly violations: readonly Violation[];
  /** What was reached: `job-controller plan deletes pods`, `conflict on jobs/status`. In no order; none twice. */
  readonly covered: readonly string[];
  /** Of all that happened, in hexadecimal: equal for equal runs. */
  readonly hash: string;
  /** What everything settled to, for comparison with a run without faults: by `Job default/pi`. */
  readonly settled: Readonly<Record<string, SettledObject>>;
  readonly figures: Figures;
}

export interface Figures {
  readonly requests: number;
  readonly writes: number;
  readonly virtualMs: number;
  /** Of managers that share work: how often a bucket went from one to another. Absent where none do. */
  readonly handovers?: number;
}

/** What of an object must not depend on faults. */
export type SettledObject = Readonly<Record<string, string | number | boolean>>;
