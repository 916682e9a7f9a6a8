export { clockRemarks } from "../time/clock-changes.js";
export { formatDuration } from "../time/duration.js";
export { timeZoneHint } from "../time/time-zone-hint.js";
export { ZonedClock } from "../time/zoned-clock.js";
