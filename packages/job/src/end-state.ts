import { type DeepReadonly, type JobCondition, secondsAsDurationMs, parseTime } from "@kubewright/api";

import { countIndexes } from "./index-intervals.js";
import {
  type JobObject,
  backoffLimitOf,
  backoffLimitPerIndexOf,
  indexCount,
  isSuspended,
  replacesOnlyFailedPods,
  specOf,
} from "./job-spec.js";
import type { ObservedIndexes } from "./observed-indexes.js";
import type { ObservedPods } from "./observed-pods.js";
import { matchPodFailurePolicy } from "./pod-failure-policy.js";
import { isPodFailed } from "./pod-state.js";
import { matchSuccessPolicy } from "./success-policy.js";

/**
 * How a Job will end. It is known before the Job may be declared ended: the Job's pods must be gone and counted first.
 */
export interface EndState {
  readonly type: "FailureTarget" | "SuccessCriteriaMet";
  readonly reason: EndReason | (string & {});
  readonly message: string;
  /** Whether an earlier sync has written it to the status. Then it is final. */
  readonly recorded: boolean;
}

export type EndReason =
  | "PodFailurePolicy"
  | "BackoffLimitExceeded"
  | "DeadlineExceeded"
  | "MaxFailedIndexesExceeded"
  | "FailedIndexes"
  | "SuccessPolicy"
  | "CompletionsReached";

export interface EndStateInput {
  readonly job: JobObject;
  readonly observed: ObservedPods;
  readonly indexes: ObservedIndexes | undefined;
  /** When the Job became active: `status.startTime`, or now if this sync starts it. */
  readonly startMs: number | undefined;
  readonly nowMs: number;
}

export const COMPLETIONS_REACHED: EndState = {
  type: "SuccessCriteriaMet",
  reason: "CompletionsReached",
  message: "Reached expected number of succeeded pods",
  recorded: false,
};

/**
 * Decides whether and how the Job has to end. An end recorded in the status takes precedence, then failure, then
 * success. Reached completions are checked later, because they depend on the outcome of the pods in this sync.
 *
 * Upstream: job_controller.go syncJob.
 */
export function decideEndState(input: EndStateInput): EndState | undefined {
  return (
    recordedEndState(input.job) ??
    failJobRule(input) ??
    limitExceeded(input) ??
    indexesFailed(input) ??
    successPolicyMet(input)
  );
}

function recordedEndState({ status }: JobObject): EndState | undefined {
  const isTrue = (type: EndState["type"]): DeepReadonly<JobCondition> | undefined =>
    status?.conditions?.find((condition) => condition.type === type && condition.status === "True");
  const condition = isTrue("SuccessCriteriaMet") ?? isTrue("FailureTarget");
  if (condition === undefined) return undefined;
  return {
    type: condition.type as EndState["type"],
    reason: condition.reason ?? "",
    message: condition.message ?? "",
    recorded: true,
  };
}

/** Checks all failed pods, also those counted long ago. Upstream: getFailJobMessage. */
function failJobRule({ job, observed }: EndStateInput): EndState | undefined {
  const policy = job.spec?.podFailurePolicy;
  if (policy == null) return undefined;
  const onlyReplaceFailed = replacesOnlyFailedPods(job);
  for (const pod of observed.pods) {
    if (!isPodFailed(pod, onlyReplaceFailed)) continue;
    const { action, message } = matchPodFailurePolicy(policy, pod);
    if (action === "FailJob") return failure("PodFailurePolicy", message ?? "");
  }
  return undefined;
}

function limitExceeded({ job, observed, startMs, nowMs }: EndStateInput): EndState | undefined {
  if (observed.failed > backoffLimitOf(job) || restartsExceedBackoffLimit(job, observed)) {
    return failure("BackoffLimitExceeded", "Job has reached the specified backoff limit");
  }
  const leftMs = deadlineLeftMs(job, startMs, nowMs);
  if (leftMs !== undefined && leftMs <= 0)
    return failure("DeadlineExceeded", "Job was active longer than specified deadline");
  return undefined;
}

function indexesFailed({ job, indexes }: EndStateInput): EndState | undefined {
  if (indexes?.failed === undefined || backoffLimitPerIndexOf(job) === undefined) return undefined;
  const failed = countIndexes(indexes.failed);
  const { maxFailedIndexes } = specOf(job);
  if (maxFailedIndexes != null && failed > maxFailedIndexes) {
    return failure("MaxFailedIndexesExceeded", "Job has exceeded the specified maximal number of failed indexes");
  }
  if (failed > 0 && failed + countIndexes(indexes.succeeded) >= indexCount(job))
    return failure("FailedIndexes", "Job has failed indexes");
  return undefined;
}

function successPolicyMet({ job, indexes }: EndStateInput): EndState | undefined {
  if (indexes === undefined) return undefined;
  const rule = matchSuccessPolicy(job.spec?.successPolicy, indexCount(job), indexes.succeeded);
  if (rule === undefined) return undefined;
  return {
    type: "SuccessCriteriaMet",
    reason: "SuccessPolicy",
    message: `Matched rules at index ${rule}`,
    recorded: false,
  };
}

/**
 * Returns the milliseconds until the active deadline; not positive once it has passed; `undefined` without a running
 * deadline.
 */
export function deadlineLeftMs(job: JobObject, startMs: number | undefined, nowMs: number): number | undefined {
  const seconds = job.spec?.activeDeadlineSeconds;
  if (seconds == null || startMs === undefined || isSuspended(job)) return undefined;
  return secondsAsDurationMs(seconds) - (nowMs - startMs);
}

/** Returns `status.startTime` in epoch milliseconds. */
export function startTimeMs(job: JobObject): number | undefined {
  return parseTime(job.status?.startTime);
}

/**
 * Returns whether the restarts of pods with restartPolicy `OnFailure` exceed the backoff limit. Upstream:
 * pastBackoffLimitOnFailure.
 */
function restartsExceedBackoffLimit(job: JobObject, { pods }: ObservedPods): boolean {
  if (specOf(job).template.spec?.restartPolicy !== "OnFailure") return false;
  let restarts = 0;
  for (const { status } of pods) {
    if (status?.phase !== "Running" && status?.phase !== "Pending") continue;
    for (const { restartCount } of status.initContainerStatuses ?? []) restarts += restartCount ?? 0;
    for (const { restartCount } of status.containerStatuses ?? []) restarts += restartCount ?? 0;
  }
  const limit = backoffLimitOf(job);
  return limit === 0 ? restarts > 0 : restarts >= limit;
}

function failure(reason: EndReason, message: string): EndState {
  return { type: "FailureTarget", reason, message, recorded: false };
}
