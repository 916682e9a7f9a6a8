import type { DeepReadonly, UnstructuredObject } from "@kubewright/api";

/**
 * Reduces an object to the fields that the garbage collector needs. Complete caches of all objects in a cluster would
 * be too large.
 */
export function metadataOnly(object: DeepReadonly<UnstructuredObject>): DeepReadonly<UnstructuredObject> {
  const { name, namespace, uid, resourceVersion, ownerReferences, finalizers, deletionTimestamp } = object.metadata;
  return {
    metadata: {
      ...(name === undefined ? {} : { name }),
      ...(namespace === undefined ? {} : { namespace }),
      ...(uid === undefined ? {} : { uid }),
      ...(resourceVersion === undefined ? {} : { resourceVersion }),
      ...(ownerReferences === undefined ? {} : { ownerReferences }),
      ...(finalizers === undefined ? {} : { finalizers }),
      ...(deletionTimestamp === undefined ? {} : { deletionTimestamp }),
    },
  };
}
