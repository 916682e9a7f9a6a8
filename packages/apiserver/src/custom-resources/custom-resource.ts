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
import { ReportedPaths } from "../message-limit.js";
import { type JsonObject, isJsonObject, jsonEqual } from "../json.js";
import { humanDuration } from "../kinds/human-duration.js";
import { storageKeyOf } from "../resource-registry.js";
import type { BuiltInSchemas } from "../schema/built-in-schemas.js";
import { type DecodeFindings, decode, noFindings } from "../schema/decode.js";
import { orderMembers } from "../schema/order-members.js";
import type { ObjectConversion, ServedResource, Subresource } from "../served-resource.js";
import { sizeOf } from "../storage/object-size.js";
import type { Store } from "../storage/store.js";
import type { ResourceStrategy, TableCell, TablePrinter } from "../strategy.js";
import type { FieldErrorType, FieldErrors } from "../field-errors.js";
import type { ScalePaths } from "../scale-paths.js";
import type { Definition, DefinitionVersion } from "./definition.js";
import type { Patterns } from "./patterns.js";
import { coerceEmbeddedMetadata, hasEmbeddedObjects, validateEmbeddedObjects } from "./embedded-objects.js";
import { ExpressionRules, type RuleCompiler } from "./expression-rules.js";
import { hasListTypes, validateListTypes } from "./list-types.js";
import { applyStructuralDefaults, prune, toObjectSchema } from "./structural-schema.js";
import { versionView } from "./version-view.js";
import { validateStructural } from "./structural-validation.js";

/** What the versions of a CustomResourceDefinition need to be served. */
export interface CustomResourceContext {
  readonly store: Store;
  readonly schemas: BuiltInSchemas;
  readonly patterns: Patterns;
  readonly compiler: RuleCompiler;
  /** Whether objects may exist that were stored with another schema. */
  readonly hasMixedSchemas: boolean;
  readonly conversion: ObjectConversion | undefined;
  /** Whether the CustomResourceDefinition is being deleted. */
  readonly isTerminating: () => boolean;
}

/** Creates the served resource of one version of a CustomResourceDefinition. */
export function serveCustomResource(
  definition: Definition,
  version: DefinitionVersion,
  context: CustomResourceContext,
): ServedResource {
  const { store, schemas, hasMixedSchemas, conversion, isTerminating } = context;
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
  const strategy = strategyOf(version, context);
  const hasEmbedded = hasEmbeddedObjects(structural);
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
    view: version.name === storageVersion && !hasMixedSchemas ? undefined : versionView(definition, version),
    storageVersion,
    subresources: new Map(subresourcesOf(version, target, strategy).map((below) => [below.name, below])),
    remove: undefined,
    timeToLiveMs: undefined,
    warnings:
      version.deprecated === true ? [version.deprecationWarning ?? defaultDeprecation(definition, apiVersion)] : [],
    custom: {
      createRefusal: () =>
        isTerminating() ? "create not allowed while custom resource definition is terminating" : undefined,
      openApiSchema: structural as JsonObject | undefined,
      conversion,
    },
  };

  function decodeCustom(value: unknown, findings: DecodeFindings | undefined): KubernetesObject {
    const unknown = new ReportedPaths();
    const pruned = prune(structural, value, (path) => unknown.add(path)) as Record<string, unknown>;
    const texts = unknown.texts;
    if (hasEmbedded) coerceEmbeddedMetadata(structural, pruned, metadataSchema, (path) => texts.push(path));
    if (findings !== undefined) findings.size += sizeOf(pruned);
    if (pruned["metadata"] !== undefined) {
      const inMetadata = noFindings();
      pruned["metadata"] = decode(metadataSchema, pruned["metadata"] ?? {}, inMetadata);
      findings?.unknownFields.push(...inMetadata.unknownFields.sort().map((field) => `metadata.${field}`));
    }
    findings?.unknownFields.push(...texts.sort());
    const { apiVersion: _apiVersion, kind: _kind, metadata: _metadata, ...own } = pruned;
    applyStructuralDefaults(structural, own);
    return orderMembers({ ...own, metadata: pruned["metadata"] }, names.kind, apiVersion);
  }
}

function defaultDeprecation({ spec }: Definition, apiVersion: string): string {
  const replacement = spec.versions.find(({ served, deprecated }) => served && deprecated !== true);
  const { kind } = spec.names;
  return `${apiVersion} ${kind} is deprecated${replacement === undefined ? "" : `; use ${spec.group}/${replacement.name} ${kind}`}`;
}

/** Returns a warning for each new finalizer whose name may conflict with other writers' finalizers. */
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

function strategyOf(version: DefinitionVersion, { patterns, compiler }: CustomResourceContext): ResourceStrategy {
  const structural = version.schema?.openAPIV3Schema;
  const hasStatus = version.subresources?.status !== undefined;
  const scale = version.subresources?.scale;
  const selectable = (version.selectableFields ?? []).map(({ jsonPath }) => jsonPath);
  const hasEmbedded = hasEmbeddedObjects(structural);
  const hasUniqueLists = hasListTypes(structural);
  const rules = ExpressionRules.of(structural, compiler);
  /** Upstream: `customresource` `validator.go` and `strategy.go`. */
  const validate = (object: KubernetesObject, errors: FieldErrors, old?: KubernetesObject): void => {
    validateStructural(structural, object, { errors, patterns, old });
    if (scale !== undefined) validateScale(scale, object, errors);
    validateRest(object, errors, old);
  };
  const validateRest = (object: KubernetesObject, errors: FieldErrors, old?: KubernetesObject): void => {
    if (hasEmbedded) validateEmbeddedObjects(structural, object, errors);
    if (hasUniqueLists) validateListTypes(structural, object, errors, old);
    if (rules === undefined) return;
    if (errors.all.some(({ type }) => BLOCKING_ERRORS.has(type))) {
      errors.invalid(
        "<nil>",
        null,
        "some validation rules were not checked because the object was invalid; correct the existing errors to complete validation",
      );
    } else rules.validate(object, errors, old);
  };
  return {
    allowUnconditionalUpdate: false,
    prepareForCreate: (object: UnstructuredObject) => {
      object.metadata.generation = 1;
      if (!hasStatus) return;
      delete object["status"];
      applyStructuralDefaults(structural, object);
    },
    warningsOnCreate: (object) => finalizerWarnings(object),
    warningsOnUpdate: (object, stored) => finalizerWarnings(object, stored),
    validateCreate: (object, errors) => validate(object, errors),
    prepareForUpdate: (object: UnstructuredObject, stored: UnstructuredObject) => {
      if (!hasStatus) return;
      if (stored["status"] === undefined) delete object["status"];
      else object["status"] = stored["status"];
    },
    validateUpdate: (object, stored, errors) => validate(object, errors, stored),
    bumpsGeneration: (object, stored) =>
      !jsonEqual(generationContent(object, hasStatus), generationContent(stored, hasStatus)),
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
            validateUpdate: (object: UnstructuredObject, stored: UnstructuredObject, errors) => {
              const old: unknown = stored["status"];
              const status = structural?.properties?.["status"];
              if (object["status"] !== undefined)
                validateStructural(status, object["status"], { errors, patterns, field: "status", old });
              if (scale !== undefined) validateScale(scale, object, errors);
              validateRest(object, errors, stored);
            },
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

/** Error types that stop the evaluation of validation rules. Upstream: `hasBlockingErr`. */
const BLOCKING_ERRORS: ReadonlySet<FieldErrorType> = new Set<FieldErrorType>([
  "NotSupported",
  "Required",
  "TooLong",
  "TooMany",
  "TypeInvalid",
]);

/** Validates that spec and status replicas are between 0 and the int32 maximum. Upstream: `ValidateScaleSpec`. */
function validateScale(scale: ScalePaths, object: KubernetesObject, errors: FieldErrors): void {
  for (const path of [scale.specReplicasPath, scale.statusReplicasPath]) {
    const replicas = readJsonPath(path, object);
    if (typeof replicas !== "number") continue;
    if (replicas < 0) errors.invalid(path, replicas, "should be a non-negative integer");
    else if (replicas > MAX_REPLICAS) errors.invalid(path, replicas, `should be less than or equal to ${MAX_REPLICAS}`);
  }
}

const MAX_REPLICAS = 2 ** 31 - 1;

/** Returns the fields whose changes bump the generation. */
function contentOf(object: KubernetesObject): unknown {
  const { apiVersion: _apiVersion, kind: _kind, metadata: _metadata, ...content } = object;
  return content;
}

function generationContent(object: KubernetesObject, hasStatus: boolean): unknown {
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
  if (value === undefined) return null;
  if (value === null) return type === "string" ? "<no value>" : null;
  switch (type) {
    case "date": {
      if (typeof value !== "string") return null;
      const atMs = parseTime(value);
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
