import { ZERO_QUANTITY, addQuantities, formatQuantity, subtractQuantities } from "@kubewright/api";

import type { Amounts, Resources } from "../pod/pod-resources.js";

/** Adds amounts by name. Upstream: `quota.Add` of k8s.io/apiserver `pkg/quota/v1`. */
export function sumOf(a: Amounts, b: Amounts): Amounts {
  const result = new Map(a);
  for (const [name, amount] of b) result.set(name, addQuantities(result.get(name) ?? ZERO_QUANTITY, amount));
  return result;
}

/** Subtracts `b` from `a`, for the names of both. Upstream: `quota.Subtract`. */
export function differenceOf(a: Amounts, b: Amounts): Amounts {
  const result = new Map(a);
  for (const [name, amount] of b) result.set(name, subtractQuantities(result.get(name) ?? ZERO_QUANTITY, amount));
  return result;
}

/** Returns the amounts with the given names. Upstream: `quota.Mask`. */
export function maskAmounts(amounts: Amounts, names: ReadonlySet<string>): Amounts {
  return new Map([...amounts].filter(([name]) => names.has(name)));
}

export function withoutZeros(amounts: Amounts): Amounts {
  return new Map([...amounts].filter(([, { nanos }]) => nanos !== 0n));
}

/** Formats amounts sorted by name: `cpu=1,memory=2Gi`. */
export function amountsText(amounts: Amounts): string {
  return [...amounts]
    .map(([name, amount]) => [name, formatQuantity(amount)] as const)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map((pair) => pair.join("="))
    .join(",");
}

export function resourcesOf(amounts: Amounts): Resources {
  return Object.fromEntries([...amounts].map(([name, amount]) => [name, formatQuantity(amount)]));
}
