export { formatDuration, parseDuration } from "./duration.js";
export { formatKlogLine } from "./klog-line.js";
export { silentLogger } from "./logger.js";
export { realRandom, seededRandom, uuid } from "./random.js";
export { realClock } from "./real-clock.js";
export { LogThrottle } from "./log-throttle.js";
export { ScaledClock } from "./scaled-clock.js";
export { SimulatedClock, StuckError } from "./simulated-clock.js";
export { standardErrorLogger } from "./standard-error.js";
export { StoppableClock } from "./stoppable-clock.js";
export { TokenBucket } from "./token-bucket.js";
export { untilAborted } from "./until-aborted.js";

export type { Clock, Timer, TimerOptions } from "./clock.js";
export type { Logger } from "./logger.js";
export type { SimulatedClockOptions } from "./simulated-clock.js";
export type { Random } from "./random.js";
