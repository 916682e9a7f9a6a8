import { type Container, type PodSpec, type Quantity, addQuantities, parseQuantity } from "@kubewright/api";

export type Resources = Readonly<Record<string, string>>;
/** Amounts by resource name. */
export type Amounts = ReadonlyMap<string, Quantity>;
type Side = "requests" | "limits";

/** Pod-level resources that replace the sum of the containers. */
const POD_LEVEL = new Set(["cpu", "memory"]);

/**
 * Returns the maximum resources a pod needs at any time, plus overhead: the sum of its containers, or the maximum of
 * its init containers.
 *
 * Upstream: `PodRequests`, `PodLimits` of k8s.io/component-helpers `resource`.
 */
export function podResources(spec: PodSpec, side: Side): Amounts {
  const total = new Map<string, Quantity>();
  for (const container of spec.containers ?? []) add(total, amountsOf(container.resources?.[side]));
  // Sidecars keep running next to all containers that start later.
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
  // Overhead does not add a limit for a resource without a limit.
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

/** Raises each amount to at least the given amount. */
function raise(total: Map<string, Quantity>, min: Amounts): void {
  for (const [name, amount] of min) {
    const current = total.get(name);
    if (current === undefined || amount.nanos > current.nanos) total.set(name, amount);
  }
}
