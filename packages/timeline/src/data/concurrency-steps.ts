/** Numbers of running and waiting pods, and the requested CPU, over time. */
export interface ConcurrencySteps {
  /** Length of one step. */
  readonly stepMs: number;
  /**
   * Starts of the steps in which something changed, in ascending order. Between two steps the last level stays in
   * effect.
   */
  readonly atMs: readonly number[];
  /** Running and waiting pods together. */
  readonly pods: Levels;
  readonly running: Levels;
  readonly waiting: Levels;
  /** Thousandths of a core. */
  readonly cpuMillis: Levels;
}

export interface Levels {
  /** The highest level within a step. */
  readonly peak: readonly number[];
  /** The level at the end of a step. */
  readonly last: readonly number[];
}
