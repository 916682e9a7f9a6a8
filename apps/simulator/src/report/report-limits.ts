/** What a page can hold and still move smoothly. */
export interface ReportLimits {
  /** Runs and ghosts of a group. */
  readonly maxRows: number;
  /** Pods of a run. */
  readonly maxPods: number;
  /** Runs, ghosts and pods together. */
  readonly maxBars: number;
  /** Warnings have room of their own, so that ordinary events do not push them out. */
  readonly maxNormalEvents: number;
  readonly maxWarnings: number;
  readonly maxDecisions: number;
  /** CronJobs, Jobs and pods whose manifests are kept, of each kind: the first ones. */
  readonly maxObjects: number;
}

/** Of a page about one run. */
export const ONE_RUN: ReportLimits = {
  maxRows: 50_000,
  maxPods: 1_000,
  maxBars: 100_000,
  maxNormalEvents: 20_000,
  maxWarnings: 10_000,
  maxDecisions: 30_000,
  maxObjects: 1_000,
};

/** Of each run that a page about many futures holds: less than 2 MB when packed. */
export const ONE_OF_MANY: ReportLimits = {
  maxRows: 20_000,
  maxPods: 200,
  maxBars: 40_000,
  maxNormalEvents: 4_000,
  maxWarnings: 2_000,
  maxDecisions: 6_000,
  maxObjects: 100,
};
