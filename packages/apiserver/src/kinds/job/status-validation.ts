import { isConditionTrue, type Job, type JobStatus, parseTime, type VersionBehaviours } from "@kubewright/api";

import { type FieldErrors, omittedValue } from "../../field-errors.js";
import { jsonEqual } from "../../json.js";
import { validateNonNegative } from "../../validation/rules.js";
import { internalForm } from "../internal-form.js";
import { firstCommonIndex, parseIndexList } from "./index-list.js";

const COUNTERS = ["active", "succeeded", "failed", "ready", "terminating"] as const;
const TERMINAL = [
  ["failed", "Failed"],
  ["complete", "Complete"],
  ["failureTarget", "FailureTarget"],
] as const;

/**
 * Validates a status update: the new status and the transition from the stored status.
 *
 * Most rules are checked only when a field they depend on changes, so that a Job that already violates them can still
 * be updated.
 *
 * Upstream: `validateJobStatus`, `ValidateJobStatusUpdate`, and `getStatusValidationOptions` in
 * `pkg/registry/batch/job`.
 */
export function validateJobStatusUpdate(
  job: Job,
  stored: Job,
  errors: FieldErrors,
  { jobManagedBy }: VersionBehaviours,
): void {
  const is = trueConditions(job.status);
  const was = trueConditions(stored.status);
  const changed = statusChanges(job.status ?? {}, stored.status ?? {}, is, was);
  validateCounters(job.status ?? {}, errors);
  // Upstream added most rules for external controllers. Without `managedBy`, upstream trusts the built-in controller.
  if (jobManagedBy) {
    validateConditions(job, is, changed, errors);
    validateIndexes(job, changed, errors);
    validatePodCounts(job, is, changed, errors);
  }
  validateSuccessConditions(job, is, errors);
  if (jobManagedBy) validateTransition(job, stored, is, was, errors);
  validateSuccessTransition(is, was, errors);
}

/** The conditions that are true in a status. */
interface TrueConditions {
  readonly complete: boolean;
  readonly failed: boolean;
  readonly failureTarget: boolean;
  readonly successCriteriaMet: boolean;
  readonly finished: boolean;
}

const NO_TRUE_CONDITIONS: TrueConditions = {
  complete: false,
  failed: false,
  failureTarget: false,
  successCriteriaMet: false,
  finished: false,
};

function trueConditions({ conditions }: JobStatus = {}): TrueConditions {
  if (conditions === undefined) return NO_TRUE_CONDITIONS;
  const complete = isConditionTrue(conditions, "Complete");
  const failed = isConditionTrue(conditions, "Failed");
  return {
    complete,
    failed,
    failureTarget: isConditionTrue(conditions, "FailureTarget"),
    successCriteriaMet: isConditionTrue(conditions, "SuccessCriteriaMet"),
    finished: complete || failed,
  };
}

type Changed = ReturnType<typeof statusChanges>;

/** Returns which fields differ from the stored status. Conditions are compared only by whether they are true. */
function statusChanges(status: JobStatus, before: JobStatus, is: TrueConditions, was: TrueConditions) {
  return {
    complete: is.complete !== was.complete,
    failed: is.failed !== was.failed,
    failureTarget: is.failureTarget !== was.failureTarget,
    successCriteriaMet: is.successCriteriaMet !== was.successCriteriaMet,
    finished: is.finished !== was.finished,
    active: (status.active ?? 0) !== (before.active ?? 0),
    ready: status.ready !== before.ready,
    terminating: status.terminating !== before.terminating,
    startTime: status.startTime !== before.startTime,
    completionTime: status.completionTime !== before.completionTime,
    completedIndexes: (status.completedIndexes ?? "") !== (before.completedIndexes ?? ""),
    failedIndexes: status.failedIndexes !== before.failedIndexes,
    uncountedTerminatedPods: !jsonEqual(status.uncountedTerminatedPods, before.uncountedTerminatedPods),
  };
}

function validateCounters(status: JobStatus, errors: FieldErrors): void {
  for (const field of COUNTERS) {
    const count = status[field];
    if (count !== undefined && count !== 0) validateNonNegative(count, `status.${field}`, errors);
  }
  const uncounted = status.uncountedTerminatedPods;
  if (uncounted?.succeeded === undefined && uncounted?.failed === undefined) return;
  const seen = new Set<string>();
  for (const list of ["succeeded", "failed"] as const) {
    for (const [index, uid] of (uncounted[list] ?? []).entries()) {
      const field = `status.uncountedTerminatedPods.${list}[${index}]`;
      if (uid === "") errors.invalid(field, uid, "must not be empty");
      else if (seen.has(uid)) errors.duplicate(field, uid);
      seen.add(uid);
    }
  }
}

function validateConditions(
  { spec, status = {} }: Job,
  is: TrueConditions,
  changed: Changed,
  errors: FieldErrors,
): void {
  const { startTime, completionTime, active = 0 } = status;
  const { complete, finished } = is;
  if ((changed.complete || changed.failed) && complete && is.failed) {
    invalidConditions(errors, "cannot set Complete=True and Failed=true conditions");
  }
  if ((changed.complete || changed.failureTarget) && complete && is.failureTarget) {
    invalidConditions(errors, "cannot set Complete=True and FailureTarget=true conditions");
  }
  if (changed.complete || changed.completionTime) {
    if (completionTime !== undefined && !complete) {
      errors.invalid(
        "status.completionTime",
        completionTime,
        "cannot set completionTime when there is no Complete=True condition",
      );
    }
    if (completionTime === undefined && complete) {
      errors.required("status.completionTime", "completionTime is required for Complete jobs");
    }
  }
  if ((changed.startTime || changed.completionTime) && isBefore(completionTime, startTime)) {
    errors.invalid("status.completionTime", completionTime, "must be equal to or after `startTime`");
  }
  if ((changed.failed || changed.failedIndexes) && is.failed && !is.failureTarget) {
    invalidConditions(errors, "cannot set Failed=True condition without the FailureTarget=true condition");
  }
  if ((changed.complete || changed.successCriteriaMet) && complete && !is.successCriteriaMet) {
    invalidConditions(errors, "cannot set Complete=True condition without the SuccessCriteriaMet=true condition");
  }
  if ((changed.finished || changed.active) && finished && active > 0) {
    errors.invalid("status.active", active, "active>0 is invalid for finished job");
  }
  const neverStarts = spec?.suspend === true && spec.completions === 0;
  if ((changed.finished || changed.startTime) && !neverStarts && finished && startTime === undefined) {
    errors.required("status.startTime", "startTime is required for finished job");
  }
  const uncounted = status.uncountedTerminatedPods;
  const uncountedPods = (uncounted?.succeeded?.length ?? 0) + (uncounted?.failed?.length ?? 0);
  if ((changed.finished || changed.uncountedTerminatedPods) && finished && uncountedPods > 0) {
    const shown = internalForm("UncountedTerminatedPods", uncounted);
    errors.invalid("status.uncountedTerminatedPods", shown, "must be empty for finished job");
  }
}

function validateIndexes({ spec, status = {} }: Job, changed: Changed, errors: FieldErrors): void {
  const { completedIndexes = "", failedIndexes } = status;
  const { completions, completionMode, backoffLimitPerIndex } = spec ?? {};
  if (changed.completedIndexes && completions !== undefined) {
    const list = parseIndexList(completedIndexes, completions);
    if ("error" in list) {
      errors.invalid("status.completedIndexes", completedIndexes, `error parsing completedIndexes: ${list.error}`);
    }
  }
  if (
    changed.failedIndexes &&
    completions !== undefined &&
    backoffLimitPerIndex !== undefined &&
    failedIndexes !== undefined
  ) {
    const list = parseIndexList(failedIndexes, completions);
    if ("error" in list)
      errors.invalid("status.failedIndexes", failedIndexes, `error parsing failedIndexes: ${list.error}`);
  }
  if (changed.completedIndexes && completedIndexes !== "" && completionMode !== "Indexed") {
    const detail = "cannot set non-empty completedIndexes when non-indexed completion mode";
    errors.invalid("status.completedIndexes", completedIndexes, detail);
  }
  if (changed.failedIndexes && failedIndexes !== undefined && backoffLimitPerIndex === undefined) {
    errors.invalid(
      "status.failedIndexes",
      failedIndexes,
      "cannot set non-null failedIndexes when backoffLimitPerIndex is null",
    );
  }
  if ((changed.failedIndexes || changed.completedIndexes) && failedIndexes !== undefined && completions !== undefined) {
    const common = firstCommonIndex(completedIndexes, failedIndexes, completions);
    if (common !== undefined) {
      errors.invalid(
        "status.failedIndexes",
        failedIndexes,
        `failedIndexes and completedIndexes overlap at index: ${common}`,
      );
    }
  }
}

function validatePodCounts({ status }: Job, is: TrueConditions, changed: Changed, errors: FieldErrors): void {
  const { active = 0, ready, terminating = 0 } = status ?? {};
  if ((changed.finished || changed.terminating) && is.finished && terminating > 0) {
    errors.invalid("status.terminating", terminating, "terminating>0 is invalid for finished job");
  }
  if ((changed.ready || changed.active) && ready !== undefined && ready > active) {
    errors.invalid("status.ready", ready, "cannot set more ready pods than active");
  }
}

function validateSuccessConditions({ spec }: Job, is: TrueConditions, errors: FieldErrors): void {
  if (is.successCriteriaMet) {
    if (is.failed) invalidConditions(errors, "cannot set SuccessCriteriaMet=True and Failed=true conditions");
    if (is.failureTarget)
      invalidConditions(errors, "cannot set SuccessCriteriaMet=True and FailureTarget=true conditions");
  } else if (spec?.successPolicy !== undefined && is.complete) {
    invalidConditions(errors, "cannot set Complete=True for Job with SuccessPolicy unless SuccessCriteriaMet=True");
  }
}

function validateTransition(job: Job, stored: Job, is: TrueConditions, was: TrueConditions, errors: FieldErrors): void {
  const { spec, status = {} } = job;
  const before = stored.status ?? {};
  for (const [member, type] of TERMINAL) {
    if (was[member] && !is[member]) invalidConditions(errors, `cannot disable the terminal ${type}=True condition`);
  }
  const { failed = 0, succeeded = 0 } = status;
  if (failed < (before.failed ?? 0)) errors.invalid("status.failed", failed, "cannot decrease the failed counter");
  // Scaling down an elastic Indexed Job removes succeeded indexes.
  const isElastic =
    spec?.completionMode === "Indexed" && spec.completions !== undefined && spec.completions === spec.parallelism;
  if (!isElastic && succeeded < (before.succeeded ?? 0)) {
    errors.invalid("status.succeeded", succeeded, "cannot decrease the succeeded counter");
  }
  if (
    before.completionTime !== undefined &&
    status.completionTime !== undefined &&
    before.completionTime !== status.completionTime
  ) {
    errors.invalid("status.completionTime", status.completionTime, "field is immutable");
  }
  const isResumed =
    isConditionTrue(before.conditions, "Suspended") &&
    (status.conditions?.some((c) => c.type === "Suspended" && c.status === "False") ?? false);
  if (before.startTime !== undefined && before.startTime !== status.startTime && !isResumed && spec?.suspend !== true) {
    errors.invalid("status.startTime", status.startTime, "field is immutable for unsuspended job once set");
  }
}

function validateSuccessTransition(is: TrueConditions, was: TrueConditions, errors: FieldErrors): void {
  if (was.successCriteriaMet && !is.successCriteriaMet) {
    invalidConditions(errors, "cannot disable the SuccessCriteriaMet=True condition");
  }
  if (was.complete && !was.successCriteriaMet && is.successCriteriaMet) {
    invalidConditions(errors, "cannot set SuccessCriteriaMet=True for Job already has Complete=true conditions");
  }
}

function invalidConditions(errors: FieldErrors, detail: string): void {
  errors.invalid("status.conditions", omittedValue, detail);
}

function isBefore(time: string | undefined, other: string | undefined): boolean {
  const ms = parseTime(time);
  const otherMs = parseTime(other);
  return ms !== undefined && otherMs !== undefined && ms < otherMs;
}
