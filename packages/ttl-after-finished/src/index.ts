export { needsCleanup, timeLeft } from "./time-left.js";
export { TTLAfterFinishedController } from "./ttl-after-finished-controller.js";

export type { TTLDecision } from "./decision.js";
export type { TimeLeft } from "./time-left.js";
export type { TTLAfterFinishedControllerOptions, TTLAfterFinishedMetrics } from "./ttl-after-finished-controller.js";
