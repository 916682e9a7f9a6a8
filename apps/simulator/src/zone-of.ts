import type { TimelineGroup } from "@kubewright/timeline/data";

/** The zone a CronJob's slots go by; UTC for Jobs. */
export function zoneOf({ cronJob }: Pick<TimelineGroup, "cronJob">): string {
  return /^(?:CRON_)?TZ=(\S+) /.exec(cronJob?.schedule ?? "")?.[1] ?? cronJob?.timeZone ?? "UTC";
}
