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
 * What the API says that these words mean, written anew: invariants that borrowed them from the controllers would be wrong
 * where they are.
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

/** Neither ended nor asked to end. */
export function isActive(pod: StoredPod): boolean {
  return !hasEnded(pod) && pod.metadata.deletionTimestamp == null;
}

/** Asked to end, and not there yet. */
export function isTerminating(pod: StoredPod): boolean {
  return !hasEnded(pod) && pod.metadata.deletionTimestamp != null;
}

export function isReady(pod: StoredPod): boolean {
  return isConditionTrue(pod.status?.conditions, "Ready");
}

/** Whether its Job still has to account for it. */
export function isTracked({ metadata }: StoredPod): boolean {
  return metadata.finalizers?.includes(JOB_TRACKING_FINALIZER) ?? false;
}

export function isIndexed({ completionMode }: StoredJobSpec): boolean {
  return completionMode === "Indexed";
}

/** The index that a pod of an indexed Job is for, if it has one below that number. */
export function indexOf(pod: StoredPod, completions = Infinity): number | undefined {
  const text = pod.metadata.annotations?.[JOB_COMPLETION_INDEX_ANNOTATION];
  if (text === undefined || !/^\d{1,10}$/.test(text)) return undefined;
  const index = Number(text);
  return index < completions ? index : undefined;
}

/** Failures of its index before this pod, as `[counted, ignored]`. */
export function failuresBefore({ metadata }: StoredPod): readonly [number, number] {
  const read = (annotation: string): number => {
    const text = metadata.annotations?.[annotation];
    return text !== undefined && /^\d{1,10}$/.test(text) ? Number(text) : 0;
  };
  return [read(JOB_INDEX_FAILURE_COUNT_ANNOTATION), read(JOB_INDEX_IGNORED_FAILURE_COUNT_ANNOTATION)];
}

/** Whether a pod counts as failed, and is replaced, only once its phase says so. */
export function replacesOnlyFailed({ podReplacementPolicy, podFailurePolicy }: StoredJobSpec): boolean {
  return podReplacementPolicy === "Failed" || podFailurePolicy != null;
}

/** Whether a pod counts as failed to its Job. */
export function countsAsFailed(pod: StoredPod, spec: StoredJobSpec): boolean {
  return hasFailed(pod) || (isTerminating(pod) && !replacesOnlyFailed(spec));
}

/** How many pods the Job wants to run at a time, given how many have succeeded; `undefined`: as many as do. */
export function wantedPods({ parallelism, completions }: StoredJobSpec, succeeded: number): number | undefined {
  const max = parallelism ?? 1;
  if (completions == null) return succeeded > 0 ? undefined : max;
  return Math.max(0, Math.min(max, completions - succeeded));
}

/** What the policy of its Job says of a pod that has failed: the action of the first rule that matches. */
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
  // A container that still runs, or has not failed, matches neither what is in a set nor what is not.
  if (code === undefined || code === 0) return false;
  return values.includes(code) === (operator === "In");
}

/**
 * When a pod ended, to whoever reads it now or has read it before: what its containers say, of one that ended by itself; of
 * others the earliest that may be read from it, which is when they were created.
 */
export function endedMs(pod: StoredPod): number {
  return knownEndMs(pod) ?? parseTime(pod.metadata.creationTimestamp) ?? 0;
}

/** When its containers say that a pod ended which nobody has deleted; `undefined` where others may read something else. */
export function knownEndMs({ metadata, status }: StoredPod): number | undefined {
  const finishes = (status?.containerStatuses ?? []).map(({ state }) => parseTime(state?.terminated?.finishedAt));
  if (metadata.deletionTimestamp != null || finishes.length === 0) return undefined;
  return finishes.every((finish) => finish !== undefined) ? Math.max(...finishes) : undefined;
}

/** Whether its containers ended in the very second in which it was asked to go, or later: whether before is not known (X8). */
export function mayHaveBeenCutShort({ metadata, status }: StoredPod): boolean {
  const deadlineMs = parseTime(metadata.deletionTimestamp);
  if (deadlineMs === undefined) return false;
  const askedMs = deadlineMs - (metadata.deletionGracePeriodSeconds ?? 0) * 1000;
  const finishes = (status?.containerStatuses ?? []).map(({ state }) => parseTime(state?.terminated?.finishedAt));
  return finishes.some((finish) => finish !== undefined && finish >= askedMs);
}

/** How many times containers of a pod were started again. */
export function restartsOf({ status }: StoredPod): number {
  let restarts = 0;
  for (const { restartCount } of status?.initContainerStatuses ?? []) restarts += restartCount ?? 0;
  for (const { restartCount } of status?.containerStatuses ?? []) restarts += restartCount ?? 0;
  return restarts;
}
