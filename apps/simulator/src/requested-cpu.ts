import type { DeepReadonly, Pod } from "@kubewright/api";

/** Thousandths per unit, for each suffix of a quantity. */
const MILLIS_PER: Readonly<Record<string, number>> = { n: 1e-6, u: 1e-3, m: 1, "": 1e3, k: 1e6, Ki: 1_024_000 };

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
  if (quantity === undefined) return 0;
  const [, number = "0", suffix = ""] = /^([\d.eE+-]+)([a-zA-Z]*)$/.exec(quantity) ?? [];
  return Math.ceil(Number(number) * (MILLIS_PER[suffix] ?? 0)) || 0;
}
