/** How many pods ran and waited, and how much CPU was requested, over time. */
export interface ConcurrencySteps {
  /** Length of one step. */
  readonly stepMs: number;
  /** Start of each step in which something changed, in order. Between steps the last level holds. */
  readonly atMs: readonly number[];
  /** Those that run and those that wait. */
  readonly pods: Levels;
  readonly running: Levels;
  readonly waiting: Levels;
  /** Thousandths of a core. */
  readonly cpuMillis: Levels;
}

export interface Levels {
  /** The highest level within a step. */
  readonly peak: readonly number[];
  /** The level at its end. */
  readonly last: readonly number[];
}
