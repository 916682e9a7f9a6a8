import type { KubernetesObject } from "@kubewright/api";

import { badRequest, forbidden, notFound } from "../api-error.js";
import type { Write } from "./write.js";

/**
 * Sets the object's namespace to the path's.
 *
 * @throws ApiError 400 when the object has another namespace.
 */
export function setRequestNamespace({ target }: Write, object: KubernetesObject): void {
  const { resource, namespace } = target;
  const { metadata } = object;
  if (!resource.namespaced) {
    delete metadata.namespace;
    return;
  }
  if (metadata.namespace && metadata.namespace !== namespace) {
    throw badRequest("the namespace of the provided object does not match the namespace sent on the request");
  }
  metadata.namespace = namespace;
}

/** Refuses creates in a namespace that does not exist or is being deleted. Upstream: NamespaceLifecycle admission. */
export function admitToNamespace({ server, target }: Write, name: string): void {
  const { resource, namespace } = target;
  const { namespaces } = server;
  if (!resource.namespaced) return;
  const stored = namespaces.storage.get("", namespace);
  if (stored === undefined) throw notFound(namespaces, namespace);
  if (!stored.object.metadata.deletionTimestamp) return;
  throw forbidden(
    resource,
    name,
    `unable to create new content in namespace ${namespace} because it is being terminated`,
    [
      {
        reason: "NamespaceTerminating",
        message: `namespace ${namespace} is being terminated`,
        field: "metadata.namespace",
      },
    ],
  );
}
