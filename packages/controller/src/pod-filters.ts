import { type DeepReadonly, type Pod, isConditionTrue } from "@kubewright/api";

/** Returns whether the pod has finished: phase `Succeeded` or `Failed`. */
export function isPodTerminal(pod: DeepReadonly<Pod>): boolean {
  const phase = pod.status?.phase;
  return phase === "Succeeded" || phase === "Failed";
}

/** Returns whether the pod has neither finished nor is being deleted (kubernetes/pkg/controller IsPodActive). */
export function isPodActive(pod: DeepReadonly<Pod>): boolean {
  return !isPodTerminal(pod) && !pod.metadata.deletionTimestamp;
}

/** Returns whether the pod is being deleted and has not finished (kubernetes/pkg/controller IsPodTerminating). */
export function isPodTerminating(pod: DeepReadonly<Pod>): boolean {
  return !isPodTerminal(pod) && Boolean(pod.metadata.deletionTimestamp);
}

/** Returns whether condition `Ready` is `True`. */
export function isPodReady(pod: DeepReadonly<Pod>): boolean {
  return isConditionTrue(pod.status?.conditions, "Ready");
}
