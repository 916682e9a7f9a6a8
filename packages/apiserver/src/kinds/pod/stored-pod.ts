import { type PodCondition, formatTime } from "@kubewright/api";

import type { ApiCall } from "../../api-call.js";
import { notFound } from "../../api-error.js";
import type { ServedResource } from "../../served-resource.js";
import type { StoredObject } from "../../storage/stored-object.js";

/**
 * Returns the pod of a subresource request.
 *
 * @throws ApiError 404
 */
export function storedPod(call: ApiCall, name: string): { resource: ServedResource; stored: StoredObject } {
  const resource = call.server.registry.find("", "v1", "pods")!;
  const stored = resource.storage.get(call.target.namespace, name);
  if (stored === undefined) throw notFound(resource, name);
  return { resource, stored };
}

/** Returns the conditions with one added or updated. The transition time changes only with the status. */
export function withCondition(
  conditions: readonly PodCondition[],
  condition: Omit<PodCondition, "lastTransitionTime">,
  nowMs: number,
): PodCondition[] {
  const existing = conditions.find(({ type }) => type === condition.type);
  const lastTransitionTime = existing?.status === condition.status ? existing.lastTransitionTime : formatTime(nowMs);
  const next = { ...condition, lastProbeTime: null, lastTransitionTime } as unknown as PodCondition;
  return existing === undefined
    ? [...conditions, next]
    : conditions.map((candidate) => (candidate === existing ? next : candidate));
}
