import type { TimelineGroup } from "@kubewright/timeline/data";

/** Returns the time zone of a CronJob's slots; UTC for Jobs. */
export function zoneOf({ cronJob }: Pick<TimelineGroup, "cronJob">): string {
  return /^(?:CRON_)?TZ=(\S+) /.exec(cronJob?.schedule ?? "")?.[1] ?? cronJob?.timeZone ?? "UTC";
}
