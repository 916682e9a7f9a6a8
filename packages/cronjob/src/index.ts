export { CronJobController } from "./cron-job-controller.js";
export { predictCronJobSync } from "./predict-sync.js";
export { jobNameFor } from "./job-from-template.js";
export { planCronJob } from "./plan-cron-job.js";
export { mostRecentSlot, nextScheduleDelayMs, slotsBetween } from "./schedule-slots.js";
export { Schedules, effectiveSchedule, hasEmbeddedTimeZone } from "./schedules.js";

export type { CronJobControllerOptions, CronJobMetrics } from "./cron-job-controller.js";
export type { CronJobDecision, CronJobOutcome, CronJobReason, MissReason, MissedSlots } from "./decision.js";
export type { StartOutcome } from "./existing-job.js";
export type { PredictedCronJobSync } from "./predict-sync.js";
export type { ReportedSlots } from "./missed-slots.js";
export type { CronJobPlan, PlanContext, PlannedEvent, StartPlan } from "./plan-cron-job.js";
export type { MissedClass, RecentSlot, SlotList, SlotSearch } from "./schedule-slots.js";
export type { ParsedSchedule } from "./schedules.js";
