/** Totals of all rows, including rows that are not stored. */
export interface TimelineTotals {
  jobs: number;
  jobsComplete: number;
  jobsFailed: number;
  /** Jobs deleted before they ended. */
  jobsDeleted: number;
  runsSkipped: number;
  pods: number;
  podsSucceeded: number;
  /** Without stopped pods. */
  podsFailed: number;
  podsStopped: number;
  warnings: Map<string, number>;
}

export function emptyTotals(): TimelineTotals {
  return {
    jobs: 0,
    jobsComplete: 0,
    jobsFailed: 0,
    jobsDeleted: 0,
    runsSkipped: 0,
    pods: 0,
    podsSucceeded: 0,
    podsFailed: 0,
    podsStopped: 0,
    warnings: new Map(),
  };
}
