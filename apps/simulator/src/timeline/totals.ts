/** What everything comes to, also what is not kept. */
export interface TimelineTotals {
  jobs: number;
  jobsComplete: number;
  jobsFailed: number;
  /** Before they had ended. */
  jobsDeleted: number;
  runsSkipped: number;
  pods: number;
  podsSucceeded: number;
  /** Without those that were stopped. */
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
