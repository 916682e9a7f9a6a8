import type { CronJob } from "@kubewright/api";
import { parseSchedule, ScheduleError, timeZoneError } from "@kubewright/cron";

import type { FieldErrors } from "../../field-errors.js";
import { validateNonNegative } from "../../validation/rules.js";
import { validateJobTemplateSpec } from "../job/spec-validation.js";
import { sortedKeys } from "../sorted-keys.js";

type Spec = NonNullable<CronJob["spec"]>;

/** A Job's name may have 63 characters, and the controller appends eleven. */
const MAX_NAME_LENGTH = 52;
const CONCURRENCY_POLICIES = ["Allow", "Forbid", "Replace"];
const TIME_ZONE_PART = /^[A-Za-z.\-_0-9+]{1,14}$/;

/** Upstream: `ValidateCronJobCreate`. */
export function validateCronJob({ metadata, spec }: CronJob, errors: FieldErrors): void {
  if (spec !== undefined) validateSpec(spec, undefined, errors);
  if ((metadata.name ?? "").length > MAX_NAME_LENGTH) {
    errors.invalid("metadata.name", metadata.name, `must be no more than ${MAX_NAME_LENGTH} characters`);
  }
}

/** Upstream: `ValidateCronJobUpdate`. Names that are too long and unchanged unknown time zones are permitted. */
export function validateCronJobUpdate({ spec }: CronJob, stored: CronJob, errors: FieldErrors): void {
  if (spec !== undefined) validateSpec(spec, stored.spec, errors);
}

function validateSpec(spec: Spec, stored: Spec | undefined, errors: FieldErrors): void {
  if (!spec.schedule) errors.required("spec.schedule");
  else validateSchedule(spec, stored, errors);
  validateNonNegative(spec.startingDeadlineSeconds, "spec.startingDeadlineSeconds", errors);
  if (stored === undefined || stored.timeZone !== spec.timeZone) validateTimeZone(spec.timeZone, errors);
  if (!spec.concurrencyPolicy) errors.required("spec.concurrencyPolicy");
  else if (!CONCURRENCY_POLICIES.includes(spec.concurrencyPolicy)) {
    errors.notSupported("spec.concurrencyPolicy", spec.concurrencyPolicy, CONCURRENCY_POLICIES);
  }
  validateJobTemplate(spec, errors);
  validateNonNegative(spec.successfulJobsHistoryLimit, "spec.successfulJobsHistoryLimit", errors);
  validateNonNegative(spec.failedJobsHistoryLimit, "spec.failedJobsHistoryLimit", errors);
}

function validateSchedule({ schedule, timeZone }: Spec, stored: Spec | undefined, errors: FieldErrors): void {
  try {
    parseSchedule(schedule);
  } catch (error) {
    if (!(error instanceof ScheduleError)) throw error;
    errors.invalid("spec.schedule", schedule, error.message);
  }
  if (!schedule.includes("TZ")) return;
  if (stored === undefined || !stored.schedule?.includes("TZ")) {
    errors.invalid("spec.schedule", schedule, "cannot use TZ or CRON_TZ in schedule, use timeZone field instead");
  } else if (timeZone !== undefined) {
    errors.invalid("spec.schedule", schedule, "cannot use both timeZone field and TZ or CRON_TZ in schedule");
  }
}

function validateTimeZone(timeZone: string | undefined, errors: FieldErrors): void {
  const field = "spec.timeZone";
  if (timeZone === undefined) return;
  if (timeZone === "") {
    errors.invalid(field, timeZone, "timeZone must be nil or non-empty string");
    return;
  }
  for (const part of timeZone.split("/")) {
    if (part === "." || part === ".." || part.startsWith("-") || !TIME_ZONE_PART.test(part)) {
      errors.invalid(field, timeZone, `unknown time zone ${timeZone}`);
      return;
    }
  }
  if (timeZone.toLowerCase() === "local") {
    const detail = "timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones";
    errors.invalid(field, timeZone, detail);
  }
  const error = timeZoneError(timeZone);
  if (error !== undefined) errors.invalid(field, timeZone, error);
}

/** Upstream: `ValidateJobTemplateSpec`. */
function validateJobTemplate({ jobTemplate }: Spec, errors: FieldErrors): void {
  const path = "spec.jobTemplate.spec";
  const spec = jobTemplate?.spec ?? { template: {} };
  validateJobTemplateSpec(spec, path, errors);
  if (spec.selector !== undefined) {
    const { matchLabels } = spec.selector;
    const shown =
      matchLabels === undefined ? spec.selector : { ...spec.selector, matchLabels: sortedKeys(matchLabels) };
    errors.invalid(`${path}.selector`, shown, "`selector` will be auto-generated");
  }
  if (spec.manualSelector === true) errors.notSupported(`${path}.manualSelector`, true, ["nil", "false"]);
}
