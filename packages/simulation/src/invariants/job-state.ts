import {
  type ContainerStatus,
  type DeepReadonly,
  JOB_COMPLETION_INDEX_ANNOTATION,
  JOB_INDEX_FAILURE_COUNT_ANNOTATION,
  JOB_INDEX_IGNORED_FAILURE_COUNT_ANNOTATION,
  JOB_TRACKING_FINALIZER,
  type Job,
  type JobSpec,
  type Pod,
  type PodFailurePolicy,
  isConditionTrue,
  parseTime,
} from "@kubewright/api";

import type { Stored } from "../world.js";

export type StoredJob = Stored<Job>;
export type StoredPod = Stored<Pod>;
export type StoredJobSpec = DeepReadonly<JobSpec>;

/*
 * The meaning of API fields, implemented independently: invariants that reused the controllers' functions would share
 * their bugs.
 */

export function hasSucceeded({ status }: StoredPod): boolean {
  return status?.phase === "Succeeded";
}

export function hasFailed({ status }: StoredPod): boolean {
  return status?.phase === "Failed";
}

export function hasEnded(pod: StoredPod): boolean {
  return hasSucceeded(pod) || hasFailed(pod);
}

/** Reports whether a pod has neither ended nor a deletion timestamp. */
export function isActive(pod: StoredPod): boolean {
  return !hasEnded(pod) && pod.metadata.deletionTimestamp == null;
}

/** Reports whether a pod has a deletion timestamp and has not ended. */
export function isTerminating(pod: StoredPod): boolean {
  return !hasEnded(pod) && pod.metadata.deletionTimestamp != null;
}

export function isReady(pod: StoredPod): boolean {
  return isConditionTrue(pod.status?.conditions, "Ready");
}

/** Reports whether the pod's Job still has to count it. */
export function isTracked({ metadata }: StoredPod): boolean {
  return metadata.finalizers?.includes(JOB_TRACKING_FINALIZER) ?? false;
}

export function isIndexed({ completionMode }: StoredJobSpec): boolean {
  return completionMode === "Indexed";
}

/** Returns the index of an Indexed Job's pod; `undefined` without an index below `completions`. */
export function indexOf(pod: StoredPod, completions = Infinity): number | undefined {
  const text = pod.metadata.annotations?.[JOB_COMPLETION_INDEX_ANNOTATION];
  if (text === undefined || !/^\d{1,10}$/.test(text)) return undefined;
  const index = Number(text);
  return index < completions ? index : undefined;
}

/** Returns the failures of its index before this pod, as `[counted, ignored]`. */
export function failuresBefore({ metadata }: StoredPod): readonly [number, number] {
  const read = (annotation: string): number => {
    const text = metadata.annotations?.[annotation];
    return text !== undefined && /^\d{1,10}$/.test(text) ? Number(text) : 0;
  };
  return [read(JOB_INDEX_FAILURE_COUNT_ANNOTATION), read(JOB_INDEX_IGNORED_FAILURE_COUNT_ANNOTATION)];
}

/** Reports whether a pod counts as failed, and is replaced, only once its phase is Failed. */
export function replacesOnlyFailed({ podReplacementPolicy, podFailurePolicy }: StoredJobSpec): boolean {
  return podReplacementPolicy === "Failed" || podFailurePolicy != null;
}

/** Reports whether a pod counts as failed for its Job. */
export function countsAsFailed(pod: StoredPod, spec: StoredJobSpec): boolean {
  return hasFailed(pod) || (isTerminating(pod) && !replacesOnlyFailed(spec));
}

/** Returns how many pods the Job wants to run, for a number of successes; `undefined` when any number is right. */
export function wantedPods({ parallelism, completions }: StoredJobSpec, succeeded: number): number | undefined {
  const max = parallelism ?? 1;
  if (completions == null) return succeeded > 0 ? undefined : max;
  return Math.max(0, Math.min(max, completions - succeeded));
}

/** Returns the action of the first failure policy rule that a failed pod matches. */
export function policyAction(
  policy: DeepReadonly<PodFailurePolicy> | undefined,
  { status }: StoredPod,
): string | undefined {
  const containers = [...(status?.containerStatuses ?? []), ...(status?.initContainerStatuses ?? [])];
  return policy?.rules?.find(({ onExitCodes, onPodConditions }) =>
    onExitCodes == null
      ? status?.conditions?.some((condition) =>
          onPodConditions?.some(
            (pattern) => pattern.type === condition.type && (pattern.status ?? "True") === condition.status,
          ),
        )
      : containers.some(
          (container) =>
            (onExitCodes.containerName == null || onExitCodes.containerName === container.name) &&
            matchesExitCode(container, onExitCodes),
        ),
  )?.action;
}

function matchesExitCode(
  { state }: DeepReadonly<ContainerStatus>,
  { operator, values }: { readonly operator: string; readonly values: readonly number[] },
): boolean {
  const code = state?.terminated?.exitCode;
  // A container that still runs, or has not failed, matches neither `In` nor `NotIn`.
  if (code === undefined || code === 0) return false;
  return values.includes(code) === (operator === "In");
}

/**
 * Returns the earliest end of a pod that any read may have shown: the end of its containers, for a pod that ended by
 * itself; otherwise its creation.
 */
export function endedMs(pod: StoredPod): number {
  return knownEndMs(pod) ?? parseTime(pod.metadata.creationTimestamp) ?? 0;
}

/**
 * Returns the end of a pod according to its containers; `undefined` for a deleted pod, where another read may show
 * another end.
 */
export function knownEndMs({ metadata, status }: StoredPod): number | undefined {
  const finishes = (status?.containerStatuses ?? []).map(({ state }) => parseTime(state?.terminated?.finishedAt));
  if (metadata.deletionTimestamp != null || finishes.length === 0) return undefined;
  return finishes.every((finish) => finish !== undefined) ? Math.max(...finishes) : undefined;
}

/**
 * Reports whether its containers ended in the second of the deletion request, or later: the order within the second is
 * unknown (X8).
 */
export function mayHaveBeenCutShort({ metadata, status }: StoredPod): boolean {
  const deadlineMs = parseTime(metadata.deletionTimestamp);
  if (deadlineMs === undefined) return false;
  const askedMs = deadlineMs - (metadata.deletionGracePeriodSeconds ?? 0) * 1000;
  const finishes = (status?.containerStatuses ?? []).map(({ state }) => parseTime(state?.terminated?.finishedAt));
  return finishes.some((finish) => finish !== undefined && finish >= askedMs);
}

/** Returns the number of container restarts of a pod. */
export function restartsOf({ status }: StoredPod): number {
  let restarts = 0;
  for (const { restartCount } of status?.initContainerStatuses ?? []) restarts += restartCount ?? 0;
  for (const { restartCount } of status?.containerStatuses ?? []) restarts += restartCount ?? 0;
  return restarts;
}
