export { ControllerMetrics } from "./controller-metrics.js";
export { healthMetrics } from "./health-metrics.js";
export { MetricFamilies } from "./metric-families.js";

export type {
  HistogramDefinition,
  LabelAllowList,
  MetricDefinition,
  MetricFamiliesOptions,
  Stability,
} from "./metric-families.js";
