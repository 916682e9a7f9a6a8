import type { Container, PodSpec } from "@kubewright/api";

import { type Quantity, addQuantities, parseQuantity } from "../../quantity.js";

export type Resources = Readonly<Record<string, string>>;
/** Amounts by resource. */
export type Amounts = ReadonlyMap<string, Quantity>;
type Side = "requests" | "limits";

/** Those of the pod as a whole that take the place of its containers'. */
const POD_LEVEL = new Set(["cpu", "memory"]);

/**
 * What a pod needs at most at any time: the sum of its containers, or what a container needs that runs before them, and the
 * overhead.
 *
 * Upstream: `PodRequests`, `PodLimits` of k8s.io/component-helpers `resource`.
 */
export function podResources(spec: PodSpec, side: Side): Amounts {
  const total = new Map<string, Quantity>();
  for (const container of spec.containers ?? []) add(total, amountsOf(container.resources?.[side]));
  // Sidecars run on beside all that starts after them.
  const sidecars = new Map<string, Quantity>();
  const initial = new Map<string, Quantity>();
  for (const container of spec.initContainers ?? []) {
    const own = amountsOf(container.resources?.[side]);
    if (isSidecar(container)) {
      add(total, own);
      add(sidecars, own);
      raise(initial, sidecars);
    } else {
      const together = new Map(own);
      add(together, sidecars);
      raise(initial, together);
    }
  }
  raise(total, initial);
  for (const [name, amount] of amountsOf(spec.resources?.[side]))
    if (POD_LEVEL.has(name) || name.startsWith("hugepages-")) total.set(name, amount);
  const overhead = amountsOf(spec.overhead);
  // What is not limited does not become so by its overhead.
  for (const [name, amount] of overhead)
    if (side === "requests" || (total.get(name)?.nanos ?? 0n) !== 0n) add(total, [[name, amount]]);
  return total;
}

export function amountsOf(resources: Resources | undefined): Amounts {
  const amounts = new Map<string, Quantity>();
  for (const [name, text] of Object.entries(resources ?? {})) {
    const amount = parseQuantity(text);
    if (amount !== undefined) amounts.set(name, amount);
  }
  return amounts;
}

function isSidecar({ restartPolicy }: Container): boolean {
  return restartPolicy === "Always";
}

function add(total: Map<string, Quantity>, amounts: Iterable<readonly [string, Quantity]>): void {
  for (const [name, amount] of amounts) {
    const sum = total.get(name);
    total.set(name, sum === undefined ? amount : addQuantities(sum, amount));
  }
}

/** Makes each amount at least that one. */
function raise(total: Map<string, Quantity>, min: Amounts): void {
  for (const [name, amount] of min) {
    const current = total.get(name);
    if (current === undefined || amount.nanos > current.nanos) total.set(name, amount);
  }
}
