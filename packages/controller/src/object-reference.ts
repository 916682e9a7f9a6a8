import {
  type DeepReadonly,
  type KubernetesObject,
  type ObjectReference,
  type ResourceDefinition,
  apiVersionOf,
} from "@kubewright/api";

/**
 * Returns a reference to an object, for an Event. The definition has the object's type: cached objects have no
 * apiVersion and kind.
 *
 * Upstream: client-go tools/reference.
 */
export function objectReference(
  object: DeepReadonly<KubernetesObject>,
  definition: ResourceDefinition,
): ObjectReference {
  const { name, namespace, uid, resourceVersion } = object.metadata;
  const { kind } = definition;
  const apiVersion = apiVersionOf(definition);
  // One literal for the common case: building the object from conditional parts costs as much as recording an event.
  if (namespace && name && uid !== undefined && resourceVersion !== undefined)
    return { kind, namespace, name, uid, apiVersion, resourceVersion };
  return {
    kind,
    ...(namespace ? { namespace } : {}),
    ...(name ? { name } : {}),
    ...(uid === undefined ? {} : { uid }),
    apiVersion,
    ...(resourceVersion === undefined ? {} : { resourceVersion }),
  };
}
