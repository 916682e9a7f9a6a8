import type { KubernetesObject } from "@kubewright/api";

/**
 * Drops owner references that equal an earlier one in every member. Returns upstream's warning if any were dropped.
 * References with the same UID but other content remain.
 */
export function dropDuplicateOwners(
  metadata: KubernetesObject["metadata"],
  afterAdmission: boolean,
): string | undefined {
  const references = metadata.ownerReferences;
  if (references === undefined || references.length < 2) return undefined;
  const seen = new Set<string>();
  const repeated = new Set<string>();
  const unique = references.filter(({ apiVersion, kind, name, uid, controller, blockOwnerDeletion }) => {
    const content = JSON.stringify([apiVersion, kind, name, uid, controller, blockOwnerDeletion]);
    if (seen.has(content)) {
      repeated.add(uid);
      return false;
    }
    seen.add(content);
    return true;
  });
  if (repeated.size === 0) return undefined;
  metadata.ownerReferences = unique;
  const when = afterAdmission ? " after mutating admission happens" : "";
  return `.metadata.ownerReferences contains duplicate entries${when}; API server dedups owner references in 1.20+, and may reject such requests as early as 1.24; please fix your requests; duplicate UID(s) observed: ${[...repeated].join(", ")}`;
}
