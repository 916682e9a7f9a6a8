import { type KubernetesObject, apiVersionOf } from "@kubewright/api";

import type { ResourceView } from "../served-resource.js";
import { orderMembers } from "../schema/order-members.js";
import type { Definition, DefinitionVersion } from "./definition.js";
import { applyStructuralDefaults, prune } from "./structural-schema.js";

/**
 * How objects of one version are stored and read: conversion `None`, which changes the name of the version and lets each
 * version see what its schema knows. What a webhook has converted is seen the same way.
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
    /** What only this version knows is lost. Upstream: it is lost when it is read again. */
    toStored(object) {
      if (name === storedVersion) return object;
      const pruned = prune(storage?.schema?.openAPIV3Schema, { ...object, metadata: undefined });
      const version = apiVersionOf({ group, version: storedVersion });
      return orderMembers({ ...(pruned as object), metadata: object.metadata }, names.kind, version);
    },
    /** By the schema of today, whoever wrote it; the same object for as long as it is stored. */
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
