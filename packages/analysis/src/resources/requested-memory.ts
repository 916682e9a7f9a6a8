import { type DeepReadonly, type Pod, scaledQuantity } from "@kubewright/api";

/**
 * Returns the memory request of a pod in bytes: the sum over its containers, or the maximum of its init containers if
 * that is higher. Init containers run before the others.
 */
export function requestedMemoryBytes({ spec }: DeepReadonly<Pod>): number {
  let total = 0;
  let maxInit = 0;
  for (const { resources } of spec?.containers ?? []) total += memoryBytesOf(resources?.requests?.["memory"]);
  for (const { resources } of spec?.initContainers ?? [])
    maxInit = Math.max(maxInit, memoryBytesOf(resources?.requests?.["memory"]));
  return Math.max(total, maxInit);
}

/** Returns a quantity in bytes; 0 for an invalid quantity. */
export function memoryBytesOf(quantity: string | undefined): number {
  return scaledQuantity(quantity ?? "0", 0) ?? 0;
}
