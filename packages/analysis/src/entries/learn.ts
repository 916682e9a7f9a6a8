export { learnWorkloads } from "../learn/learn-workloads.js";
export { observeMetrics } from "../learn/observe-metrics.js";
export { observeObjects } from "../learn/observe-objects.js";
export { workloadsText } from "../learn/workloads-text.js";

export type { Observation } from "../learn/observation.js";
export type { MetricsAnswer } from "../learn/observe-metrics.js";
