/** Fields of a CronJob that a timeline shows. */
export interface CronJobState {
  readonly schedule: string;
  readonly timeZone?: string;
  readonly concurrencyPolicy?: string;
  readonly suspend?: boolean;
  readonly startingDeadlineSeconds?: number;
  readonly active: readonly string[];
  readonly lastScheduleTime?: string;
}
