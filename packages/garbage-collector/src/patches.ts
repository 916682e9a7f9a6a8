import type { Metadata, Reference } from "./object-identity.js";

/**
 * Patches the garbage collector sends. The strategic ones carry the object's UID, so that another of its name is refused
 * (422); the others, for custom resources, its resourceVersion.
 *
 * @see kubernetes v1.36 pkg/controller/garbagecollector/patch.go
 */

export function deleteReferencesStrategicPatch(uid: string, ownerUids: readonly string[]): object {
  return { metadata: { uid, ownerReferences: ownerUids.map((owner) => ({ $patch: "delete", uid: owner })) } };
}

export function deleteReferencesMergePatch(metadata: Metadata, ownerUids: readonly string[]): object {
  const remaining = metadata.ownerReferences?.filter(({ uid }) => !ownerUids.includes(uid)) ?? [];
  return {
    metadata: {
      resourceVersion: metadata.resourceVersion,
      ownerReferences: remaining.length === 0 ? null : remaining,
    },
  };
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

export function unblockReferencesMergePatch({ resourceVersion, ownerReferences = [] }: Metadata): object {
  return { metadata: { resourceVersion, ownerReferences: ownerReferences.map(unblocked) } };
}

export function removeFinalizerPatch({ resourceVersion, finalizers = [] }: Metadata, finalizer: string): object {
  const remaining = finalizers.filter((each) => each !== finalizer);
  return { metadata: { resourceVersion, finalizers: remaining.length === 0 ? null : remaining } };
}

function unblocked(reference: Reference): Reference {
  return { ...reference, blockOwnerDeletion: false };
}
