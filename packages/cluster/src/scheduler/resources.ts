import { type DeepReadonly, type Pod, type PodSpec, scaledQuantity } from "@kubewright/api";

import { type Placement, placementOf } from "./placement.js";

/** Amounts by resource name: CPU in thousandths of a core, everything else in whole units. A missing name means 0. */
export type Amounts = ReadonlyMap<string, number>;

/** The requests of a pod. Equal `key`s mean equal amounts and placements. */
export interface PodRequests {
  readonly amounts: Amounts;
  /** Absent when every node is permitted. */
  readonly placement?: Placement;
  readonly key: string;
}

type Quantities = Readonly<Record<string, string>> | undefined;

/**
 * Parses the quantities of `resources.requests` or `status.allocatable`.
 *
 * @throws Error for a malformed quantity.
 */
export function parseAmounts(quantities: Quantities): Map<string, number> {
  const amounts = new Map<string, number>();
  for (const [name, text] of Object.entries(quantities ?? {})) {
    const amount = scaledQuantity(text, name === "cpu" ? -3 : 0);
    if (amount === undefined) throw new Error(`${JSON.stringify(text)} is not a quantity`);
    amounts.set(name, amount);
  }
  return amounts;
}

/**
 * Returns the peak requests of a pod.
 *
 * The peak is the sum of its containers and sidecars, or, if that is larger, of an init container and the sidecars
 * started before it; plus the overhead. Pod-level requests replace the sum.
 *
 * Upstream: k8s.io/component-helpers/resource PodRequests.
 */
export function podRequests(pod: DeepReadonly<Pod>): PodRequests {
  const amounts = totalRequests(pod.spec);
  const key = amounts.size === 0 ? "" : requestsKey(amounts);
  const placement = placementOf(pod.spec);
  return placement === undefined
    ? { amounts, key }
    : { amounts, placement, key: `${key} ${JSON.stringify(placement)}` };
}

function requestsKey(amounts: Amounts): string {
  const parts: string[] = [];
  for (const [name, amount] of amounts) if (amount !== 0) parts.push(`${name}=${amount}`);
  return parts.sort().join();
}

function totalRequests(spec: DeepReadonly<PodSpec> | undefined): Map<string, number> {
  const total = new Map<string, number>();
  if (spec === undefined) return total;
  for (const { resources } of spec.containers)
    if (resources?.requests !== undefined) add(total, parseAmounts(resources.requests));
  if (spec.initContainers !== undefined) {
    const sidecars = new Map<string, number>();
    const initPeak = new Map<string, number>();
    for (const container of spec.initContainers) {
      const requests = parseAmounts(container.resources?.requests);
      if (container.restartPolicy === "Always") {
        add(total, requests);
        add(sidecars, requests);
      } else {
        add(requests, sidecars);
        raise(initPeak, requests);
      }
    }
    raise(total, initPeak);
  }
  if (spec.resources?.requests !== undefined)
    for (const [name, amount] of parseAmounts(spec.resources.requests)) total.set(name, amount);
  if (spec.overhead !== undefined) add(total, parseAmounts(spec.overhead));
  return total;
}

function add(total: Map<string, number>, amounts: Amounts): void {
  for (const [name, amount] of amounts) total.set(name, (total.get(name) ?? 0) + amount);
}

function raise(total: Map<string, number>, amounts: Amounts): void {
  for (const [name, amount] of amounts) if (amount > (total.get(name) ?? 0)) total.set(name, amount);
}
