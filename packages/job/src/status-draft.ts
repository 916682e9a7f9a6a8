import type { DeepReadonly, JobCondition, JobStatus } from "@kubewright/api";

type Status = DeepReadonly<JobStatus>;

/** An editable form of a Job's status, in which counters and lists are always present. */
export interface StatusDraft {
  readonly active: number;
  readonly succeeded: number;
  readonly failed: number;
  /** Absent until the first sync has counted pods. */
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

/** A draft, and whether it differs from the original in a field that is worth a write. */
export interface ChangedDraft {
  readonly draft: StatusDraft;
  readonly changed: boolean;
}

const NONE: readonly never[] = [];

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
    conditions: status?.conditions ?? NONE,
    uncountedSucceeded: status?.uncountedTerminatedPods?.succeeded ?? NONE,
    uncountedFailed: status?.uncountedTerminatedPods?.failed ?? NONE,
  };
}

/**
 * Converts the draft to its wire form. It omits the fields that Go's `omitempty` omits, so that a stored status
 * compares equal.
 */
export function statusOf(draft: StatusDraft): Status {
  const { conditions, uncountedSucceeded, uncountedFailed } = draft;
  const uncounted: Writable<NonNullable<Status["uncountedTerminatedPods"]>> = {};
  if (uncountedSucceeded.length > 0) uncounted.succeeded = uncountedSucceeded;
  if (uncountedFailed.length > 0) uncounted.failed = uncountedFailed;
  const status: Writable<Status> = {};
  if (conditions.length > 0) status.conditions = conditions;
  if (draft.startTime !== undefined) status.startTime = draft.startTime;
  if (draft.completionTime !== undefined) status.completionTime = draft.completionTime;
  if (draft.active > 0) status.active = draft.active;
  if (draft.succeeded > 0) status.succeeded = draft.succeeded;
  if (draft.failed > 0) status.failed = draft.failed;
  if (draft.terminating !== undefined) status.terminating = draft.terminating;
  if (draft.completedIndexes !== "") status.completedIndexes = draft.completedIndexes;
  if (draft.failedIndexes !== undefined) status.failedIndexes = draft.failedIndexes;
  status.uncountedTerminatedPods = uncounted;
  if (draft.ready !== undefined) status.ready = draft.ready;
  return status;
}

type Writable<T> = { -readonly [Member in keyof T]: T[Member] };
