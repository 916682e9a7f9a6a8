export { FakeScheduler } from "./fake-scheduler.js";
export { tolerates } from "./placement.js";

export type { FakeSchedulerOptions } from "./fake-scheduler.js";
export type { Taint, Toleration } from "./placement.js";
