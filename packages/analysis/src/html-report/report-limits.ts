/** The amount of data with which a page still moves smoothly. */
export interface ReportLimits {
  /** Maximum number of runs and skipped slots of a group. */
  readonly maxRows: number;
  /** Maximum number of pods of a run. */
  readonly maxPods: number;
  /** Maximum number of runs, skipped slots and pods in total. */
  readonly maxBars: number;
  /** Warnings have a separate limit, so that normal events do not displace them. */
  readonly maxNormalEvents: number;
  readonly maxWarnings: number;
  readonly maxDecisions: number;
  /** Maximum number of recorded manifests of CronJobs, of Jobs and of pods. The first ones are recorded. */
  readonly maxObjects: number;
}

/** Limits of a page about one run. */
export const ONE_RUN: ReportLimits = {
  maxRows: 50_000,
  maxPods: 1_000,
  maxBars: 100_000,
  maxNormalEvents: 20_000,
  maxWarnings: 10_000,
  maxDecisions: 30_000,
  maxObjects: 1_000,
};

/** Limits of each run in a page about many futures: less than 2 MB when packed. */
export const ONE_OF_MANY: ReportLimits = {
  maxRows: 20_000,
  maxPods: 200,
  maxBars: 40_000,
  maxNormalEvents: 4_000,
  maxWarnings: 2_000,
  maxDecisions: 6_000,
  maxObjects: 100,
};
