export { FakeScheduler } from "./fake-scheduler.js";

export type { FakeSchedulerOptions } from "./fake-scheduler.js";
