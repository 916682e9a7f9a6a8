/** The owner of the observed containers, in the form of a workloads file's selection. */
export interface Subject {
  readonly kind: "CronJob" | "Job";
  readonly namespace: string;
  readonly name: string;
}

/** A finished run. */
export interface Observation {
  readonly subject: Subject;
  /** Name of the run's Job. */
  readonly job: string;
  /** Absent when only the Job was observed. */
  readonly container?: string;
  /** 1 when only a failed Job was observed. */
  readonly exitCode: number;
  readonly endMs: number;
  /** Number of runs with this result, when only the Job's counts were observed. Default 1. */
  readonly times?: number;
  /** Absent when the duration is unknown. */
  readonly durationMs?: number;
}

/** The names of a CronJob's Jobs end in a number of minutes. */
const SLOT = /^(.+)-\d{8,}$/;

/** Derives the owner of a Job from its name. */
export function subjectNamed(namespace: string, job: string): Subject {
  const cronJob = SLOT.exec(job)?.[1];
  return cronJob === undefined ? { kind: "Job", namespace, name: job } : { kind: "CronJob", namespace, name: cronJob };
}
