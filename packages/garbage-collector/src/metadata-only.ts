import type { DeepReadonly, UnstructuredObject } from "@kubewright/api";

/** Of each object, what a garbage collector needs: caches of everything in a cluster would be too large otherwise. */
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
