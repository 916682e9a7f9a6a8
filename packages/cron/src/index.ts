export { describeSchedule } from "./describe-schedule.js";
export { explainNextRuns, explainSchedule } from "./explain-schedule.js";
export { parseGoDuration, parseGoDurationMs, tryParseGoDuration } from "./go-duration.js";
export { goQuote } from "./go-quote.js";
export { parseSchedule } from "./schedule.js";
export { ScheduleError } from "./schedule-error.js";
export { timeZoneError } from "./time-zone-location.js";
export { isTimeZone } from "./time-zone-names.js";
export { suggestTimeZone } from "./time-zone-suggestion.js";
export { TimeZoneCache } from "./time-zone.js";

export type { ExplainOptions, ScheduleExplanation, ScheduleTransition } from "./explain-schedule.js";
export type { Schedule, ScheduleOptions } from "./schedule.js";
export type { FieldName } from "./schedule-error.js";
