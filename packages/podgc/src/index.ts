export { failedStatusPatch } from "./failed-status-patch.js";
export { PodGCController } from "./pod-gc-controller.js";
export {
  selectPodsOnNodes,
  selectTerminatedPods,
  selectTerminatingPodsOutOfService,
  selectUnscheduledTerminatingPods,
} from "./select-pods.js";

export type { PodGCDecision, PodGCReason } from "./decision.js";
export type { PodGCControllerOptions, PodGCMetrics } from "./pod-gc-controller.js";
