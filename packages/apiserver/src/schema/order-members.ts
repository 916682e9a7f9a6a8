import type { KubernetesObject } from "@kubewright/api";

/**
 * Returns the object with its members in the API's order. `apiVersion` before `kind`, as in manifests, may stay: stored
 * objects are serialized with `kind` first anyway.
 */
export function orderMembers(members: Record<string, unknown>, kind: string, apiVersion: string): KubernetesObject {
  if (isOrdered(members) && members["kind"] === kind && members["apiVersion"] === apiVersion)
    return members as unknown as KubernetesObject;
  const { kind: _kind, apiVersion: _apiVersion, metadata, ...rest } = members;
  return { kind, apiVersion, metadata: metadata ?? {}, ...rest };
}

function isOrdered(members: object): boolean {
  let position = 0;
  for (const key in members) {
    if (position === 2) return key === "metadata";
    if (key !== "kind" && key !== "apiVersion") return false;
    position++;
  }
  return false;
}
