import type { Metadata, Reference } from "./object-identity.js";

/**
 * Patches of the garbage collector. Strategic merge patches contain the object's UID, so that another object of that
 * name is rejected (422). Merge patches, for custom resources, contain its resourceVersion.
 *
 * @see kubernetes v1.36 pkg/controller/garbagecollector/patch.go
 */

export function deleteReferencesStrategicPatch(uid: string, ownerUids: readonly string[]): object {
  return { metadata: { uid, ownerReferences: ownerUids.map((owner) => ({ $patch: "delete", uid: owner })) } };
}

export function deleteReferencesMergePatch(metadata: Metadata, ownerUids: readonly string[]): object {
  return referencesMergePatch(metadata, metadata.ownerReferences?.filter(({ uid }) => !ownerUids.includes(uid)) ?? []);
}

export function unblockReferencesStrategicPatch(uid: string, references: readonly Reference[]): object {
  const blocking = references.filter(({ blockOwnerDeletion }) => blockOwnerDeletion === true);
  return {
    metadata: {
      uid,
      ...(blocking.length === 0 ? {} : { ownerReferences: blocking.map(unblocked) }),
    },
  };
}

/** @param references - The references in the graph. */
export function unblockReferencesMergePatch(metadata: Metadata, references: readonly Reference[]): object {
  return referencesMergePatch(metadata, references.map(unblocked));
}

export function removeFinalizerPatch({ resourceVersion, finalizers = [] }: Metadata, finalizer: string): object {
  const remaining = finalizers.filter((each) => each !== finalizer);
  return { metadata: { resourceVersion, finalizers: remaining.length === 0 ? null : remaining } };
}

function referencesMergePatch({ resourceVersion }: Metadata, references: readonly Reference[]): object {
  return { metadata: { resourceVersion, ownerReferences: references.length === 0 ? null : references } };
}

function unblocked(reference: Reference): Reference {
  return { ...reference, blockOwnerDeletion: false };
}
