/** Whose containers something tells of: what a workloads file selects. */
export interface Subject {
  readonly kind: "CronJob" | "Job";
  readonly namespace: string;
  readonly name: string;
}

/** A run that was seen to end. */
export interface Observation {
  readonly subject: Subject;
  /** The Job it ran for, by name. */
  readonly job: string;
  /** Absent when only the Job is known. */
  readonly container?: string;
  /** 1 when only the Job is known, and failed. */
  readonly exitCode: number;
  readonly endMs: number;
  /** How many runs ended so, when a Job only counts them. Default 1. */
  readonly times?: number;
  /** Absent when nothing tells how long it took. */
  readonly durationMs?: number;
}

/** The number of minutes that the CronJob controller ends the names of its Jobs with. */
const SLOT = /^(.+)-\d{8,}$/;

/** Whom a Job belongs to that nothing but the name is known of. */
export function subjectNamed(namespace: string, job: string): Subject {
  const cronJob = SLOT.exec(job)?.[1];
  return cronJob === undefined ? { kind: "Job", namespace, name: job } : { kind: "CronJob", namespace, name: cronJob };
}
