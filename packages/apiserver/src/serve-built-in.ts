import { apiVersionOf } from "@kubewright/api";

import { type BuiltInResource, type BuiltInSubresource, standardVerbs } from "./built-in-resource.js";
import { objectSubresource, scaleSubresource, standardHandlers, subresource } from "./handlers/standard.js";
import { TOO_DEEP, isNestedDeeper } from "./nesting.js";
import { storageKeyOf } from "./resource-registry.js";
import type { BuiltInSchemas } from "./schema/built-in-schemas.js";
import { DecodeError, type DecodeFindings, decode as decodeTyped } from "./schema/decode.js";
import { orderMembers } from "./schema/order-members.js";
import type { ServedResource, Subresource } from "./served-resource.js";
import { sizeOf } from "./storage/object-size.js";
import type { Store } from "./storage/store.js";

/** Converts the declaration of a built-in resource to a served resource. */
export function serveBuiltIn(resource: BuiltInResource, store: Store, schemas: BuiltInSchemas): ServedResource {
  const { definition, strategy, verbs = standardVerbs } = resource;
  const apiVersion = apiVersionOf(definition);
  const schema = schemas.ofKind(apiVersion, definition.kind);
  return {
    definition,
    group: definition.group,
    version: definition.version,
    resource: definition.resource,
    kind: definition.kind,
    namespaced: definition.namespaced,
    nameFormat: strategy.nameFormat ?? "dns-1123-subdomain",
    customResource: false,
    apiVersion,
    listKind: resource.listKind ?? `${definition.kind}List`,
    singular: resource.singular ?? definition.kind.toLowerCase(),
    shortNames: resource.shortNames ?? [],
    categories: resource.categories ?? [],
    verbs: new Set(verbs),
    handlers: standardHandlers(verbs),
    strategy: strategy,
    schema,
    decode: (value, findings, known, isOwned) => {
      const decoded =
        schema === undefined ? copyUntyped(value, findings) : decodeTyped(schema, value, findings, known, isOwned);
      return orderMembers(decoded, definition.kind, apiVersion);
    },
    storage: store.storage(storageKeyOf(resource.view?.storedAs ?? definition)),
    view: resource.view,
    storageVersion: resource.storageVersion,
    subresources: subresourcesOf(resource),
    remove: resource.remove,
    timeToLiveMs: resource.timeToLiveMs,
    warnings: resource.deprecation === undefined ? [] : [resource.deprecation],
    custom: undefined,
  };
}

function subresourcesOf({ definition, strategy, subresources = {} }: BuiltInResource): Map<string, Subresource> {
  const declared: Record<string, BuiltInSubresource> = {
    ...subresources,
    ...(strategy.status === undefined ? {} : { status: { strategy: strategy.status } }),
  };
  return new Map(
    Object.entries(declared).map(([name, builtIn]) => {
      if ("strategy" in builtIn) return [name, objectSubresource(name, definition, builtIn.strategy)];
      if ("scale" in builtIn) return [name, scaleSubresource(builtIn.scale)];
      const { group, version, kind } = builtIn.body ?? definition;
      return [name, subresource(name, { group, version, kind }, builtIn.handlers)];
    }),
  );
}

/** @throws DecodeError when the value is nested too deeply. */
function copyUntyped(value: unknown, findings: DecodeFindings | undefined): Record<string, unknown> {
  if (isNestedDeeper(value)) throw new DecodeError(TOO_DEEP);
  const copy = structuredClone(value) as Record<string, unknown>;
  if (findings !== undefined) findings.size += sizeOf(copy);
  return copy;
}
