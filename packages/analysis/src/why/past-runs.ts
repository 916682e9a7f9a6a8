import {
  CRONJOB_INSTANTIATE_ANNOTATION,
  CRONJOB_SCHEDULED_TIMESTAMP_ANNOTATION,
  type DeepReadonly,
  type Job,
  finishedCondition,
  parseTime,
} from "@kubewright/api";

/** A run of a CronJob whose Job still exists. */
export interface PastRun {
  readonly job: string;
  /** Absent for a manually created Job. */
  readonly slotMs?: number;
  readonly createdMs: number;
  readonly startMs?: number;
  readonly endMs?: number;
  readonly outcome: "Complete" | "Failed" | "Running" | "Suspended" | "Deleting";
  /** Reason of the failure. */
  readonly reason?: string;
  readonly madeByHand: boolean;
}

/** Returns the runs, newest first. */
export function pastRuns(jobs: readonly DeepReadonly<Job>[]): PastRun[] {
  return jobs.map(pastRun).sort((a, b) => b.createdMs - a.createdMs || (a.job < b.job ? 1 : -1));
}

function pastRun(job: DeepReadonly<Job>): PastRun {
  const { metadata, spec, status } = job;
  const end = finishedCondition(job);
  const endMs = parseTime(status?.completionTime) ?? parseTime(end?.lastTransitionTime);
  const slotMs = parseTime(metadata.annotations?.[CRONJOB_SCHEDULED_TIMESTAMP_ANNOTATION]);
  const startMs = parseTime(status?.startTime);
  const unfinished = spec?.suspend === true ? "Suspended" : metadata.deletionTimestamp ? "Deleting" : "Running";
  return {
    job: metadata.name ?? "",
    ...(slotMs === undefined ? {} : { slotMs }),
    createdMs: parseTime(metadata.creationTimestamp) ?? 0,
    ...(startMs === undefined ? {} : { startMs }),
    ...(end === undefined || endMs === undefined ? {} : { endMs }),
    outcome: end === undefined ? unfinished : end.type,
    ...(end?.type === "Failed" && end.reason ? { reason: end.reason } : {}),
    madeByHand: metadata.annotations?.[CRONJOB_INSTANTIATE_ANNOTATION] === "manual",
  };
}
