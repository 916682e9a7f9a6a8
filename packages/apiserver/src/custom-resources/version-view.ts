import { type KubernetesObject, apiVersionOf } from "@kubewright/api";

import type { ResourceView } from "../served-resource.js";
import { orderMembers } from "../schema/order-members.js";
import type { Definition, DefinitionVersion } from "./definition.js";
import { applyStructuralDefaults, prune } from "./structural-schema.js";

/**
 * Returns the view of stored objects in one version, for conversion `None`: the apiVersion is replaced, and each
 * version sees the fields of its schema. Objects that a webhook has converted get the same view.
 *
 * Upstream: apiextensions-apiserver `pkg/apiserver/conversion`, and the decoders that prune and default.
 */
export function versionView({ spec }: Definition, { name, schema }: DefinitionVersion): ResourceView<KubernetesObject> {
  const storage = spec.versions.find((version) => version.storage);
  const storedVersion = storage?.name ?? name;
  const { group, names } = spec;
  const versionSchema = schema?.openAPIV3Schema;
  const views = new WeakMap<KubernetesObject, KubernetesObject>();
  return {
    storedAs: {
      group,
      version: storedVersion,
      resource: names.plural,
      kind: names.kind,
      namespaced: spec.scope === "Namespaced",
    },
    /**
     * Converts an object to the storage version. Fields that the storage version does not declare are removed. Upstream
     * removes them when the object is read again.
     */
    toStored(object) {
      if (name === storedVersion) return object;
      const pruned = prune(storage?.schema?.openAPIV3Schema, { ...object, metadata: undefined });
      const version = apiVersionOf({ group, version: storedVersion });
      return orderMembers({ ...(pruned as object), metadata: object.metadata }, names.kind, version);
    },
    /**
     * Converts a stored object with the current schema, regardless of the schema it was written with. Returns the same
     * view for the same stored object.
     */
    fromStored(stored) {
      const before = views.get(stored);
      if (before !== undefined) return before;
      const { metadata, ...content } = stored;
      const {
        apiVersion: _apiVersion,
        kind: _kind,
        ...members
      } = prune(versionSchema, content) as Record<string, unknown>;
      applyStructuralDefaults(versionSchema, members);
      const view = orderMembers({ ...members, metadata }, names.kind, apiVersionOf({ group, version: name }));
      views.set(stored, view);
      return view;
    },
  };
}
