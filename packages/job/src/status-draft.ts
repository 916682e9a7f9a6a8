import type { DeepReadonly, JobCondition, JobStatus } from "@kubewright/api";

type Status = DeepReadonly<JobStatus>;

/** A Job's status in the making: counters and lists are always there. */
export interface StatusDraft {
  readonly active: number;
  readonly succeeded: number;
  readonly failed: number;
  /** Absent until a first sync has counted. */
  readonly ready?: number | undefined;
  readonly terminating?: number | undefined;
  readonly startTime?: string | undefined;
  readonly completionTime?: string | undefined;
  readonly completedIndexes: string;
  readonly failedIndexes?: string | undefined;
  readonly conditions: readonly DeepReadonly<JobCondition>[];
  /** UIDs of ended pods that the counters do not include yet. */
  readonly uncountedSucceeded: readonly string[];
  readonly uncountedFailed: readonly string[];
}

export function draftOf(status: Status | undefined): StatusDraft {
  return {
    active: status?.active ?? 0,
    succeeded: status?.succeeded ?? 0,
    failed: status?.failed ?? 0,
    ready: status?.ready ?? undefined,
    terminating: status?.terminating ?? undefined,
    startTime: status?.startTime ?? undefined,
    completionTime: status?.completionTime ?? undefined,
    completedIndexes: status?.completedIndexes ?? "",
    failedIndexes: status?.failedIndexes ?? undefined,
    conditions: status?.conditions ?? [],
    uncountedSucceeded: status?.uncountedTerminatedPods?.succeeded ?? [],
    uncountedFailed: status?.uncountedTerminatedPods?.failed ?? [],
  };
}

/** The draft as it crosses the wire: without what Go's `omitempty` leaves out, so that a stored status compares equal. */
export function statusOf(draft: StatusDraft): Status {
  return {
    ...(draft.conditions.length > 0 && { conditions: draft.conditions }),
    ...(draft.startTime !== undefined && { startTime: draft.startTime }),
    ...(draft.completionTime !== undefined && { completionTime: draft.completionTime }),
    ...(draft.active > 0 && { active: draft.active }),
    ...(draft.succeeded > 0 && { succeeded: draft.succeeded }),
    ...(draft.failed > 0 && { failed: draft.failed }),
    ...(draft.terminating !== undefined && { terminating: draft.terminating }),
    ...(draft.completedIndexes !== "" && { completedIndexes: draft.completedIndexes }),
    ...(draft.failedIndexes !== undefined && { failedIndexes: draft.failedIndexes }),
    uncountedTerminatedPods: {
      ...(draft.uncountedSucceeded.length > 0 && { succeeded: draft.uncountedSucceeded }),
      ...(draft.uncountedFailed.length > 0 && { failed: draft.uncountedFailed }),
    },
    ...(draft.ready !== undefined && { ready: draft.ready }),
  };
}
