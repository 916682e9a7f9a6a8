export { failedStatusPatch } from "./failed-status-patch.js";
export { PodGCController } from "./pod-gc-controller.js";
export {
  selectPodsOnNodes,
  selectTerminatedPods,
  selectTerminatingPodsOutOfService,
  selectUnscheduledTerminatingPods,
} from "./select-pods.js";
export { TerminatedPodCollector } from "./terminated-pod-collector.js";
export { TerminatedPodCounts } from "./terminated-pod-counts.js";

export type { PodGCDecision, PodGCReason } from "./decision.js";
export type { PodGCMetrics } from "./pod-collector.js";
export type { PodGCControllerOptions } from "./pod-gc-controller.js";
export type { TerminatedPodCollectorOptions } from "./terminated-pod-collector.js";
