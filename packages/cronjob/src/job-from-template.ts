import {
  CRONJOB_SCHEDULED_TIMESTAMP_ANNOTATION,
  type CronJob,
  type DeepReadonly,
  type Job,
  apiVersionOf,
  cronJobs,
  formatTime,
  jobs,
  newControllerRef,
} from "@kubewright/api";

import type { Schedules } from "./schedules.js";
import { formatOffsetTime } from "./zoned-time.js";

/**
 * Returns the name of the Job for a slot: the CronJob's name and the slot in minutes since 1970. The name prevents a
 * second start of the same slot; slots in the same minute share it. The name is never truncated, so a long CronJob name
 * makes it invalid.
 */
export function jobNameFor(cronJobName: string, slotMs: number): string {
  return `${cronJobName}-${Math.floor(slotMs / 60_000)}`;
}

/**
 * Creates the Job of a CronJob for one slot. The Job shares the template's immutable spec with the CronJob. The request
 * sets its namespace.
 *
 * @see kubernetes v1.36 pkg/controller/cronjob/utils.go getJobFromTemplate2
 */
export function jobFromTemplate(
  cronJob: DeepReadonly<CronJob>,
  slotMs: number,
  schedules: Schedules,
): DeepReadonly<Job> {
  const template = cronJob.spec?.jobTemplate;
  const timeZone = cronJob.spec?.timeZone ?? "UTC";
  return {
    apiVersion: apiVersionOf(jobs),
    kind: jobs.kind,
    metadata: {
      name: jobNameFor(cronJob.metadata.name ?? "", slotMs),
      ...(template?.metadata?.labels === undefined ? {} : { labels: template.metadata.labels }),
      annotations: {
        ...template?.metadata?.annotations,
        [CRONJOB_SCHEDULED_TIMESTAMP_ANNOTATION]: formatOffsetTime(slotMs, schedules.offsetSeconds(timeZone, slotMs)),
      },
      creationTimestamp: formatTime(slotMs),
      ownerReferences: [newControllerRef(cronJob, { apiVersion: apiVersionOf(cronJobs), kind: cronJobs.kind })],
    },
    ...(template?.spec === undefined ? {} : { spec: template.spec }),
  };
}
