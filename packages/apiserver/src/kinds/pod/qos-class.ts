import { type Pod, parseQuantity } from "@kubewright/api";

type Quantities = Readonly<Record<string, string>> | undefined;

const COMPUTE_RESOURCES = ["cpu", "memory"];

/**
 * Returns the QoS class. `Guaranteed`: each container has equal requests and limits for cpu and memory. `BestEffort`:
 * no container has any of them. Otherwise `Burstable`. Upstream: `ComputePodQOS` in `pkg/apis/core/v1/helper/qos`.
 */
export function podQosClass({ spec }: Pod): "Guaranteed" | "Burstable" | "BestEffort" {
  // Pod-level requests and limits replace those of the containers.
  const consumers =
    spec?.resources === undefined ? [...(spec?.containers ?? []), ...(spec?.initContainers ?? [])] : [spec];
  let guaranteed = consumers.length > 0;
  let hasRequests = false;
  for (const { resources } of consumers) {
    if (resources?.requests === undefined && resources?.limits === undefined) {
      guaranteed = false;
      continue;
    }
    for (const name of COMPUTE_RESOURCES) {
      const request = amount(resources.requests, name);
      const limit = amount(resources.limits, name);
      if (request > 0n || limit > 0n) hasRequests = true;
      if (limit === 0n || request !== limit) guaranteed = false;
    }
  }
  if (!hasRequests) return "BestEffort";
  return guaranteed ? "Guaranteed" : "Burstable";
}

function amount(quantities: Quantities, name: string): bigint {
  const text = quantities?.[name];
  return (text === undefined ? undefined : parseQuantity(text)?.nanos) ?? 0n;
}
