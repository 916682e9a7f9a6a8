import { type DeepReadonly, type Pod, isConditionTrue } from "@kubewright/api";

/** Finished: phase `Succeeded` or `Failed`. */
export function isPodTerminal(pod: DeepReadonly<Pod>): boolean {
  const phase = pod.status?.phase;
  return phase === "Succeeded" || phase === "Failed";
}

/** Neither finished nor being deleted (kubernetes/pkg/controller IsPodActive). */
export function isPodActive(pod: DeepReadonly<Pod>): boolean {
  return !isPodTerminal(pod) && !pod.metadata.deletionTimestamp;
}

/** Being deleted, and not finished yet (kubernetes/pkg/controller IsPodTerminating). */
export function isPodTerminating(pod: DeepReadonly<Pod>): boolean {
  return !isPodTerminal(pod) && Boolean(pod.metadata.deletionTimestamp);
}

/** Condition `Ready` is `True`. */
export function isPodReady(pod: DeepReadonly<Pod>): boolean {
  return isConditionTrue(pod.status?.conditions, "Ready");
}
