import type { DeepReadonly, Pod } from "@kubewright/api";

/** The factor of each suffix of a quantity. */
const FACTORS: Readonly<Record<string, number>> = {
  n: 1e-9,
  u: 1e-6,
  m: 1e-3,
  "": 1,
  k: 1e3,
  M: 1e6,
  G: 1e9,
  T: 1e12,
  P: 1e15,
  E: 1e18,
  Ki: 2 ** 10,
  Mi: 2 ** 20,
  Gi: 2 ** 30,
  Ti: 2 ** 40,
  Pi: 2 ** 50,
  Ei: 2 ** 60,
};

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
export function memoryBytesOf(quantity: string | number | undefined): number {
  if (quantity === undefined) return 0;
  const [, number = "0", suffix = ""] =
    /^([+-]?[\d.]+(?:[eE][+-]?\d+)?)([a-zA-Z]*)$/.exec(String(quantity).trim()) ?? [];
  return Math.ceil(Number(number) * (FACTORS[suffix] ?? 0)) || 0;
}
