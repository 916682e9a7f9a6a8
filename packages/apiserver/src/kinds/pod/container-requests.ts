import { type Container, type PodSpec, type Quantity, parseQuantity } from "@kubewright/api";

type Quantities = Map<string, Quantity>;
type Kind = "requests" | "limits";

/**
 * Returns the aggregate requests of a pod's containers: the larger of the sum of the running containers and the maximum
 * during initialization.
 *
 * @see kubernetes `AggregateContainerRequests` of `k8s.io/component-helpers/resource`
 */
export function containerRequests(spec: PodSpec): ReadonlyMap<string, Quantity> {
  return aggregate(spec, "requests");
}

/** Returns the aggregate limits. Upstream: `AggregateContainerLimits`. */
export function containerLimits(spec: PodSpec): ReadonlyMap<string, Quantity> {
  return aggregate(spec, "limits");
}

function aggregate({ containers, initContainers = [] }: PodSpec, kind: Kind): Quantities {
  const sum: Quantities = new Map();
  for (const container of containers ?? []) add(sum, quantitiesOf(container, kind));
  const sidecars: Quantities = new Map();
  const initMax: Quantities = new Map();
  for (const container of initContainers) {
    const own = quantitiesOf(container, kind);
    if (container.restartPolicy === "Always") {
      add(sum, own);
      add(sidecars, own);
      raise(initMax, sidecars);
    } else {
      add(own, sidecars);
      raise(initMax, own);
    }
  }
  raise(sum, initMax);
  return sum;
}

function quantitiesOf({ resources }: Container, kind: Kind): Quantities {
  const result: Quantities = new Map();
  for (const [name, text] of Object.entries(resources?.[kind] ?? {})) {
    const quantity = parseQuantity(text);
    if (quantity !== undefined) result.set(name, quantity);
  }
  return result;
}

function add(to: Quantities, more: Quantities): void {
  for (const [name, quantity] of more) {
    const before = to.get(name);
    to.set(name, before === undefined ? quantity : { ...before, nanos: before.nanos + quantity.nanos });
  }
}

function raise(to: Quantities, min: Quantities): void {
  for (const [name, quantity] of min) if ((to.get(name)?.nanos ?? -1n) < quantity.nanos) to.set(name, quantity);
}
