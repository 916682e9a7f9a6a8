import type { InvariantViolation } from "./invariant.js";

/** Outcome of a run, as plain data. */
export interface Outcome {
  /** The first violation of each invariant and object, in the order of discovery. */
  readonly violations: readonly InvariantViolation[];
  /** Coverage: `job-controller plan deletes pods`, `conflict on jobs/status`. Unordered, without duplicates. */
  readonly covered: readonly string[];
  /** Hash of all records, in hexadecimal: equal for equal runs. */
  readonly hash: string;
  /** Settled state for comparison with a fault-free run, by `Job default/pi`. */
  readonly settled: Readonly<Record<string, SettledObject>>;
  readonly figures: Figures;
}

export interface Figures {
  readonly requests: number;
  readonly writes: number;
  readonly virtualMs: number;
  /** Number of handovers of buckets between managers. Absent without sharding. */
  readonly handovers?: number;
}

/** The fields of an object that must not depend on faults. */
export type SettledObject = Readonly<Record<string, string | number | boolean>>;
