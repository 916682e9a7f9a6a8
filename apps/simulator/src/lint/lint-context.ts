import type { TimeZoneCache } from "@kubewright/cron";

/** What rules go by, beside what they look at. */
export interface LintContext {
  /** From when on: the schedule's runs and the changes of the clock after it count. */
  readonly fromMs: number;
  readonly zones: TimeZoneCache;
}
