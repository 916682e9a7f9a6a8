import { type DeepReadonly, type Pod, scaledQuantity } from "@kubewright/api";

/**
 * Returns the CPU request of a pod in thousandths of a core. It is the sum over its containers, or the maximum of its
 * init containers if that is higher. Init containers run before the others.
 */
export function requestedCpuMillis({ spec }: DeepReadonly<Pod>): number {
  let total = 0;
  let maxInit = 0;
  for (const { resources } of spec?.containers ?? []) total += cpuMillisOf(resources?.requests?.["cpu"]);
  for (const { resources } of spec?.initContainers ?? [])
    maxInit = Math.max(maxInit, cpuMillisOf(resources?.requests?.["cpu"]));
  return Math.max(total, maxInit);
}

/** Returns a quantity in thousandths of a core; 0 for an invalid quantity. */
export function cpuMillisOf(quantity: string | undefined): number {
  return scaledQuantity(quantity ?? "0", -3) ?? 0;
}
