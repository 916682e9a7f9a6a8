import { hasEmbeddedTimeZone } from "@kubewright/cronjob";

import type { LintRule } from "../lint-rule.js";

export const noTimeZone: LintRule = {
  name: "no-time-zone",
  level: "note",
  summary: "No timeZone: the schedule uses the time zone of the machine that the controller runs on",
  oncePerFile: true,
  check: ({ cronJob }) => {
    if (cronJob === undefined || typeof cronJob.schedule !== "string") return [];
    const { schedule, timeZone } = cronJob;
    // Delays do not depend on the time of day.
    if (timeZone != null || hasEmbeddedTimeZone(schedule) || schedule.startsWith("@every")) return [];
    const text =
      "no timeZone: the schedule uses the time zone of the machine that kube-controller-manager runs on; name one, for example timeZone: Etc/UTC";
    return [{ text, path: ["spec", "schedule"] }];
  },
};

export const zoneInSchedule: LintRule = {
  name: "zone-in-schedule",
  level: "error",
  summary: "TZ= or CRON_TZ= in the schedule",
  check: ({ cronJob }) => {
    const schedule = cronJob?.schedule;
    if (typeof schedule !== "string" || !hasEmbeddedTimeZone(schedule)) return [];
    const zone = /^(?:CRON_)?TZ=(\S+) /.exec(schedule)?.[1];
    const fix = zone === undefined ? "name the zone in timeZone" : `write timeZone: ${zone} instead`;
    const text = `the schedule names a zone itself, which Kubernetes refuses in new CronJobs since 1.29; ${fix}`;
    return [{ text, path: ["spec", "schedule"] }];
  },
};
