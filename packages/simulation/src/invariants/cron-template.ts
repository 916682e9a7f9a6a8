import { CRONJOB_SCHEDULED_TIMESTAMP_ANNOTATION, type Job, parseTime } from "@kubewright/api";

import type { Invariant, InvariantChecks } from "../invariant.js";
import type { Stored } from "../world.js";
import { type CronJobSpec, cronRecordsOf } from "./cron-records.js";
import { type ScheduleCache, scheduleCacheOf } from "./schedule-cache.js";
import { CRON_JOB_CONTROLLER, JOBS, nameOf, uidOf } from "./stored-objects.js";

/** Upstream: pkg/controller/cronjob/utils.go getJobFromTemplate2. */
export const jobsMatchTemplate: Invariant = {
  name: "S29 Jobs match the template",
  sentence:
    "A Job that a CronJob creates, and its pods, have the labels, annotations and settings of the " +
    "current or an earlier template; its annotation gives the slot in the CronJob's time zone.",
  watch(world, violated): InvariantChecks {
    const records = cronRecordsOf(world);
    const schedules = scheduleCacheOf(world);
    return {
      onChange(change) {
        const { request, type, resource, object } = change;
        if (resource !== JOBS || type !== "ADDED" || request?.component !== CRON_JOB_CONTROLLER) return;
        const owner = records.runs.get(uidOf(object))?.owner;
        if (owner === undefined || owner.specs.length === 0) return;
        const differences = owner.specs.map(
          (spec) => templateDifference(object, spec) ?? timeZoneDifference(object, spec, schedules),
        );
        if (differences.every((difference) => difference !== undefined))
          violated(nameOf(object, "Job"), `has another ${differences.at(-1)} than the template that it is made by`);
      },
    };
  },
};

function templateDifference({ metadata, spec }: Stored<Job>, { jobTemplate }: CronJobSpec): string | undefined {
  const { template: podTemplate, ...settings } = jobTemplate.spec ?? {};
  const { template: pods, ...rest } = spec ?? {};
  return (
    firstDifference(metadata.labels, jobTemplate.metadata?.labels, "label") ??
    firstDifference(metadata.annotations, jobTemplate.metadata?.annotations, "annotation") ??
    firstDifference(rest, settings, "setting") ??
    firstDifference(pods?.metadata?.labels, podTemplate?.metadata?.labels, "label of pods") ??
    firstDifference(pods?.spec, podTemplate?.spec, "setting of pods")
  );
}

/** Compares the slot's offset from UTC: `+01:00`, or `Z` for none. */
function timeZoneDifference(
  { metadata }: Stored<Job>,
  spec: CronJobSpec,
  schedules: ScheduleCache,
): string | undefined {
  const slot = metadata.annotations?.[CRONJOB_SCHEDULED_TIMESTAMP_ANNOTATION];
  const slotMs = parseTime(slot);
  const offsetMs = slotMs === undefined ? undefined : schedules.offsetMs(spec, slotMs);
  if (slot === undefined || offsetMs === undefined) return undefined;
  const [, sign = "+", hours = 0, minutes = 0] = /(?:Z|([+-])(\d\d):(\d\d))$/.exec(slot) ?? [];
  const annotatedOffsetMs = (Number(hours) * 60 + Number(minutes)) * (sign === "-" ? -60_000 : 60_000);
  return annotatedOffsetMs === offsetMs ? undefined : "time zone of its slot";
}

/** Returns the first field that differs. Only strings, numbers and booleans are compared: objects may get defaults. */
function firstDifference(is: object | undefined, asked: object | undefined, what: string): string | undefined {
  const has = new Map<string, unknown>(Object.entries(is ?? {}));
  for (const [name, value] of Object.entries(asked ?? {}))
    if (value !== null && typeof value !== "object" && has.get(name) !== value) return `${what} ${name}`;
  return undefined;
}
