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
 * The name of the Job for one slot: the minute since 1970 after the CronJob's own name. It is what keeps a slot from
 * being started twice; slots of the same minute share it. Never cut short, so a long enough CronJob name makes it
 * invalid.
 */
export function jobNameFor(cronJobName: string, slotMs: number): string {
  return `${cronJobName}-${Math.floor(slotMs / 60_000)}`;
}

/**
 * The Job a CronJob creates for one slot. It shares the template's spec, which nobody may change, with the CronJob. Its
 * namespace is told by where it is posted.
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
