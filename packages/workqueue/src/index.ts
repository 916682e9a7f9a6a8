export { BucketRateLimiter } from "./bucket-rate-limiter.js";
export {
  MaxOfRateLimiter,
  WithMaxWaitRateLimiter,
  defaultControllerRateLimiter,
  defaultItemBasedRateLimiter,
} from "./combined-rate-limiters.js";
export { DelayingQueue } from "./delaying-queue.js";
export { ItemExponentialFailureRateLimiter, ItemFastSlowRateLimiter } from "./item-rate-limiters.js";
export { parallelizeUntil } from "./parallelize-until.js";
export { PriorityQueue, lowPriority } from "./priority-queue.js";
export { queueMetricDefinitions } from "./queue-metrics.js";
export { RateLimitingQueue } from "./rate-limiting-queue.js";
export { WorkQueue } from "./work-queue.js";

export type { ParallelizeOptions } from "./parallelize-until.js";
export type { PriorityAddOptions } from "./priority-queue.js";
export type { QueueMetricDefinition, QueueMetrics, QueueMetricsProvider } from "./queue-metrics.js";
export type { RateLimiter } from "./rate-limiter.js";
export type { RateLimitingQueueOptions } from "./rate-limiting-queue.js";
export type { WorkQueueOptions } from "./work-queue.js";
