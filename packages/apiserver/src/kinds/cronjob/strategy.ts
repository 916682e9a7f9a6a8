import { type CronJob, cronJobs } from "@kubewright/api";

import { builtInResource } from "../../built-in-resource.js";
import { jsonEqual } from "../../json.js";
import type { ResourceStrategy } from "../../strategy.js";
import { jobSpecWarnings, podNamePrefixWarnings } from "../job/warnings.js";
import { specAndStatus } from "../spec-and-status.js";
import { age, ageCell, containerColumns, selectorCell, table } from "../table-cells.js";
import { applyCronJobDefaults } from "./defaults.js";
import { validateCronJob, validateCronJobUpdate } from "./validation.js";

const TZ_IN_SCHEDULE =
  "cannot use TZ or CRON_TZ in spec.spec.schedule, use timeZone instead, see https://kubernetes.io/docs/concepts/workloads/controllers/cron-jobs/ for more details";

/** Upstream: `pkg/registry/batch/cronjob`. As there, the status is not validated. */
export const cronJobStrategy: ResourceStrategy<CronJob> = {
  ...specAndStatus<CronJob>(),
  applyDefaults: applyCronJobDefaults,
  podTemplate: ({ spec }) => spec?.jobTemplate?.spec?.template,
  validateCreate: validateCronJob,
  warningsOnCreate: ({ metadata, spec }) => [...podNamePrefixWarnings(metadata.name ?? ""), ...templateWarnings(spec)],
  validateUpdate: validateCronJobUpdate,
  warningsOnUpdate: ({ spec }, stored) => [
    ...(jsonEqual(spec, stored.spec) ? [] : templateWarnings(spec)),
    ...(spec?.schedule.includes("TZ") ? [TZ_IN_SCHEDULE] : []),
  ],
  printer: table<CronJob>({
    Schedule: ({ spec }) => spec?.schedule ?? "",
    Timezone: ({ spec }) => spec?.timeZone ?? "<none>",
    "Suspend:boolean": ({ spec }) => (spec?.suspend === undefined ? "<unset>" : spec.suspend ? "True" : "False"),
    "Active:integer": ({ status }) => status?.active?.length ?? 0,
    "Last Schedule": ({ status }, nowMs) =>
      status?.lastScheduleTime === undefined ? "<none>" : age(status.lastScheduleTime, nowMs),
    Age: ageCell,
    ...containerColumns(({ spec }) => spec?.jobTemplate?.spec?.template?.spec),
    "Selector*": ({ spec }) => selectorCell(spec?.jobTemplate?.spec?.selector),
  }),
};

export const cronJobResource = builtInResource<CronJob>({
  definition: cronJobs,
  shortNames: ["cj"],
  categories: ["all"],
  strategy: cronJobStrategy,
});

function templateWarnings(spec: CronJob["spec"]): string[] {
  return jobSpecWarnings(spec?.jobTemplate?.spec, "spec.jobTemplate.spec");
}
