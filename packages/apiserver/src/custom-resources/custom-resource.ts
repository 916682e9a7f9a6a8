import {
  FOREGROUND_DELETION_FINALIZER,
  type KubernetesObject,
  ORPHAN_FINALIZER,
  type UnstructuredObject,
  apiVersionOf,
  mutableCopy,
  parseTime,
} from "@kubewright/api";

import { standardVerbs } from "../built-in-resource.js";
import { objectSubresource, scaleSubresource, standardHandlers } from "../handlers/standard.js";
import { readJsonPath } from "../json-path.js";
import { FoundPaths } from "../telling.js";
import { type JsonObject, isJsonObject, jsonEqual } from "../json.js";
import { humanDuration } from "../kinds/human-duration.js";
import { storageKeyOf } from "../resource-registry.js";
import type { BuiltInSchemas } from "../schema/built-in-schemas.js";
import { type DecodeFindings, decode } from "../schema/decode.js";
import { ordered } from "../schema/ordered.js";
import type { ServedResource, Subresource } from "../served-resource.js";
import { sizeOf } from "../storage/object-size.js";
import type { Store } from "../storage/store.js";
import type { ResourceStrategy, TableCell, TablePrinter } from "../strategy.js";
import type { Definition, DefinitionVersion } from "./definition.js";
import type { Patterns } from "./patterns.js";
import { applyStructuralDefaults, prune, toObjectSchema, validateStructural } from "./structural-schema.js";

/** One version of a CustomResourceDefinition as the server serves it. */
export function serveCustomResource(
  definition: Definition,
  version: DefinitionVersion,
  store: Store,
  schemas: BuiltInSchemas,
  patterns: Patterns,
  isTerminating: () => boolean,
): ServedResource {
  const { group, names, scope } = definition.spec;
  const storageVersion = definition.spec.versions.find(({ storage }) => storage)?.name ?? version.name;
  const target = {
    group,
    version: version.name,
    resource: names.plural,
    kind: names.kind,
    namespaced: scope === "Namespaced",
  };
  const apiVersion = apiVersionOf(target);
  const structural = version.schema?.openAPIV3Schema;
  const metadataSchema = schemas.ofType("ObjectMeta");
  const storedAs = { ...target, version: storageVersion };
  const strategy = strategyOf(version, patterns);
  return {
    definition: target,
    ...target,
    nameFormat: "dns-1123-subdomain",
    customResource: true,
    apiVersion,
    listKind: names.listKind ?? `${names.kind}List`,
    singular: names.singular ?? names.kind.toLowerCase(),
    shortNames: names.shortNames ?? [],
    categories: names.categories ?? [],
    verbs: new Set(standardVerbs),
    handlers: standardHandlers(),
    strategy,
    schema: toObjectSchema(structural, names.kind, metadataSchema),
    decode: (value, findings) => decodeCustom(value, findings),
    storage: store.storage(storageKeyOf(target)),
    view:
      version.name === storageVersion
        ? undefined
        : {
            storedAs,
            fromStored: (stored) => ({ ...stored, apiVersion }),
            toStored: (object) => ({ ...object, apiVersion: apiVersionOf(storedAs) }),
          },
    storageVersion,
    subresources: new Map(subresourcesOf(version, target, strategy).map((below) => [below.name, below])),
    remove: undefined,
    timeToLiveMs: undefined,
    custom: {
      createRefusal: () =>
        isTerminating() ? "create not allowed while custom resource definition is terminating" : undefined,
      warnings:
        version.deprecated === true ? [version.deprecationWarning ?? defaultDeprecation(definition, apiVersion)] : [],
      openApiSchema: structural as JsonObject | undefined,
    },
  };

  function decodeCustom(value: unknown, findings: DecodeFindings | undefined): KubernetesObject {
    const unknown = new FoundPaths();
    const pruned = prune(structural, value, (path) => unknown.add(path)) as Record<string, unknown>;
    findings?.unknownFields.push(...unknown.texts.sort());
    if (findings !== undefined) findings.size += sizeOf(pruned);
    if (pruned["metadata"] !== undefined) pruned["metadata"] = decode(metadataSchema, pruned["metadata"] ?? {});
    const { apiVersion: _apiVersion, kind: _kind, metadata: _metadata, ...own } = pruned;
    applyStructuralDefaults(structural, own);
    return ordered({ ...own, metadata: pruned["metadata"] }, names.kind, apiVersion);
  }
}

function defaultDeprecation({ spec }: Definition, apiVersion: string): string {
  const better = spec.versions.find(({ served, deprecated }) => served && deprecated !== true);
  const { kind } = spec.names;
  return `${apiVersion} ${kind} is deprecated${better === undefined ? "" : `; use ${spec.group}/${better.name} ${kind}`}`;
}

/** Finalizers that might be somebody else's, too. */
function finalizerWarnings(object: KubernetesObject, stored?: KubernetesObject): string[] {
  const known = new Set([...(stored?.metadata.finalizers ?? []), ORPHAN_FINALIZER, FOREGROUND_DELETION_FINALIZER]);
  return (object.metadata.finalizers ?? [])
    .filter((finalizer) => !known.has(finalizer) && !finalizer.includes("/"))
    .map((finalizer) => {
      const path = finalizer.includes(".") ? " including a path (/)" : "";
      return `metadata.finalizers: ${JSON.stringify(finalizer)}: prefer a domain-qualified finalizer name${path} to avoid accidental conflicts with other finalizer writers`;
    });
}

function subresourcesOf(
  { subresources }: DefinitionVersion,
  target: { group: string; version: string; kind: string },
  { status }: ResourceStrategy,
): Subresource[] {
  return [
    ...(subresources?.status === undefined ? [] : [objectSubresource("status", target, status)]),
    ...(subresources?.scale === undefined ? [] : [scaleSubresource(subresources.scale)]),
  ];
}

function strategyOf(version: DefinitionVersion, patterns: Patterns): ResourceStrategy {
  const structural = version.schema?.openAPIV3Schema;
  const hasStatus = version.subresources?.status !== undefined;
  const selectable = (version.selectableFields ?? []).map(({ jsonPath }) => jsonPath);
  return {
    allowUnconditionalUpdate: false,
    prepareForCreate: (object: UnstructuredObject) => {
      object.metadata.generation = 1;
      if (hasStatus) delete object["status"];
    },
    warningsOnCreate: (object) => finalizerWarnings(object),
    warningsOnUpdate: (object, stored) => finalizerWarnings(object, stored),
    validateCreate: (object, errors) => validateStructural(structural, contentOf(object), errors, patterns),
    prepareForUpdate: (object: UnstructuredObject, stored: UnstructuredObject) => {
      if (!hasStatus) return;
      if (stored["status"] === undefined) delete object["status"];
      else object["status"] = stored["status"];
    },
    validateUpdate: (object, _stored, errors) => validateStructural(structural, contentOf(object), errors, patterns),
    bumpsGeneration: (object, stored) => !jsonEqual(bumping(object, hasStatus), bumping(stored, hasStatus)),
    ...(hasStatus
      ? {
          status: {
            prepareForUpdate: (object: UnstructuredObject, stored: UnstructuredObject) => {
              const { managedFields } = object.metadata;
              for (const key of Object.keys(object)) if (key !== "status") delete object[key];
              const { status: _status, ...rest } = stored;
              Object.assign(object, mutableCopy(rest));
              if (managedFields === undefined) delete object.metadata.managedFields;
              else object.metadata.managedFields = managedFields;
            },
            validateUpdate: (object, _stored, errors) =>
              validateStructural(structural, contentOf(object), errors, patterns),
          },
        }
      : {}),
    fieldSelectors: Object.fromEntries(
      selectable.map((path) => [
        path.replace(/^\./, ""),
        (object: unknown) => `${(readJsonPath(path, object) ?? "") as string | number | boolean}`,
      ]),
    ),
    printer: printerOf(version),
  };
}

/** What the definition's schema says something about. */
function contentOf(object: KubernetesObject): unknown {
  const { apiVersion: _apiVersion, kind: _kind, metadata: _metadata, ...content } = object;
  return content;
}

function bumping(object: KubernetesObject, hasStatus: boolean): unknown {
  const content = contentOf(object);
  if (!hasStatus || !isJsonObject(content)) return content;
  const { status: _status, ...rest } = content;
  return rest;
}

function printerOf({ additionalPrinterColumns = [] }: DefinitionVersion): TablePrinter<KubernetesObject> {
  const columns =
    additionalPrinterColumns.length > 0
      ? additionalPrinterColumns
      : [{ name: "Age", type: "date", jsonPath: ".metadata.creationTimestamp" }];
  return {
    columns: [
      { name: "Name", type: "string", format: "name" },
      ...columns.map(({ name, type, format, description, priority }) => ({
        name,
        type: type as "string",
        ...(format === undefined ? {} : { format }),
        ...(description === undefined ? {} : { description }),
        ...(priority === undefined ? {} : { priority }),
      })),
    ],
    cells: (object, nowMs) => [
      object.metadata.name ?? "",
      ...columns.map(({ type, jsonPath }) => cell(type, readJsonPath(jsonPath, object), nowMs)),
    ],
  };
}

function cell(type: string, value: unknown, nowMs: number): TableCell {
  if (value === undefined || value === null) return null;
  switch (type) {
    case "date": {
      const atMs = typeof value === "string" ? parseTime(value) : undefined;
      return atMs === undefined ? "<invalid>" : humanDuration(nowMs - atMs);
    }
    case "integer":
      return typeof value === "number" ? Math.trunc(value) : null;
    case "number":
      return typeof value === "number" ? value : null;
    case "boolean":
      return typeof value === "boolean" ? value : null;
    default:
      return typeof value === "string" ? value : JSON.stringify(value);
  }
}
