import type { DeepReadonly, Pod } from "@kubewright/api";

/** Powers of ten, or of two, that a quantity's suffix stands for, in thousandths. */
const MILLIS_PER: Readonly<Record<string, number>> = { n: 1e-6, u: 1e-3, m: 1, "": 1e3, k: 1e6, Ki: 1_024_000 };

/** Thousandths of a core that a pod's containers request together; init containers, which run before them, count only beyond that. */
export function requestedCpuMillis({ spec }: DeepReadonly<Pod>): number {
  let total = 0;
  let maxInit = 0;
  for (const { resources } of spec?.containers ?? []) total += cpuMillisOf(resources?.requests?.["cpu"]);
  for (const { resources } of spec?.initContainers ?? [])
    maxInit = Math.max(maxInit, cpuMillisOf(resources?.requests?.["cpu"]));
  return Math.max(total, maxInit);
}

/** Thousandths of a core; 0 for what is no quantity. */
export function cpuMillisOf(quantity: string | undefined): number {
  if (quantity === undefined) return 0;
  const [, number = "0", suffix = ""] = /^([\d.eE+-]+)([a-zA-Z]*)$/.exec(quantity) ?? [];
  return Math.ceil(Number(number) * (MILLIS_PER[suffix] ?? 0)) || 0;
}
