import type { CustomResourceDefinition } from "@kubewright/api";

import { type CustomResourceSchema, admitsAbsence, jsonSchemaOf } from "./custom-resource-schema.js";
import { emit } from "./emit.js";
import { Problems } from "./schema-problem.js";
import type { StructuralSchema, ValidationRule } from "./structural-schema.js";
import { translate } from "./translate.js";

/** A column of `kubectl get`. */
export interface PrinterColumn {
  readonly name: string;
  /** A simple path: `.spec.schedule`. */
  readonly jsonPath: string;
  /** Default: the type in the schema; `date` for times, which are shown as an age. */
  readonly type?: "boolean" | "date" | "integer" | "number" | "string" | undefined;
  readonly format?: string | undefined;
  readonly description?: string | undefined;
  /** Above 0: only with `-o wide`. */
  readonly priority?: number | undefined;
}

export type CustomResourceColumns = NonNullable<
  CustomResourceDefinition["spec"]["versions"][number]["additionalPrinterColumns"]
>;

/** Paths that `kubectl scale` and autoscalers read and write. */
export interface ScaleSubresource {
  /** Such as `.spec.replicas`. */
  readonly specReplicasPath: string;
  /** Such as `.status.replicas`. */
  readonly statusReplicasPath: string;
  /** Path of a string: `.status.selector`. */
  readonly labelSelectorPath?: string;
}

export interface VersionSubresources {
  /** Absent: no status subresource. */
  readonly status?: Record<string, never>;
  readonly scale?: ScaleSubresource;
}

/** Options of one version of a custom resource. */
export interface VersionOptions<Spec extends CustomResourceSchema, Status extends CustomResourceSchema> {
  /** `v1`, `v1beta1`, … */
  readonly version: string;
  /** Schema of `spec`, which users write. */
  readonly spec: Spec;
  /** Schema of `status`, which the controller writes. It enables the `status` subresource. */
  readonly status?: Status | undefined;
  readonly description?: string | undefined;
  readonly printerColumns?: readonly PrinterColumn[] | undefined;
  readonly subresources?: { readonly status?: boolean; readonly scale?: ScaleSubresource } | undefined;
  /** Rules for the whole object: `self.metadata.name.size() < 20`. */
  readonly validations?: readonly ValidationRule[] | undefined;
  /** Simple paths that field selectors may use: `.spec.volume`. At most 8. */
  readonly selectableFields?: readonly string[] | undefined;
  /** Whether the API server serves the version. Default true. */
  readonly served?: boolean | undefined;
  /** Whether the API server warns clients that use the version; a string is the warning. Default false. */
  readonly deprecated?: boolean | string | undefined;
}

interface VersionSchema {
  readonly schema: StructuralSchema;
  readonly subresources: VersionSubresources;
  readonly printerColumns: CustomResourceColumns;
}

const TEXT: StructuralSchema = { type: "string" };

/**
 * Creates the structural schema of a version.
 *
 * @throws CustomResourceError for anything that cannot be expressed.
 */
export function versionSchema(
  kind: string,
  options: VersionOptions<CustomResourceSchema, CustomResourceSchema>,
): VersionSchema {
  const { spec, status, description, validations = [], subresources = {} } = options;
  const problems = new Problems();
  const read = (schema: CustomResourceSchema, name: string): StructuralSchema => {
    const path = [name];
    return emit(translate(jsonSchemaOf(schema, path, problems), path, problems), path, problems);
  };
  const schema: StructuralSchema = {
    type: "object",
    ...(description === undefined ? {} : { description }),
    ...(admitsAbsence(spec) ? {} : { required: ["spec"] }),
    properties: {
      apiVersion: TEXT,
      kind: TEXT,
      metadata: { type: "object" },
      spec: read(spec, "spec"),
      ...(status === undefined ? {} : { status: read(status, "status") }),
    },
    ...(validations.length === 0 ? {} : { "x-kubernetes-validations": validations }),
  };
  const printerColumns = (options.printerColumns ?? []).map((column) => printed(column, schema, problems));
  for (const path of options.selectableFields ?? [])
    if (schemaAt(schema, path) === undefined) problems.add([path], "is selectable, and no field of the schema");
  problems.throwIfAny(kind);
  const hasStatus = subresources.status ?? status !== undefined;
  return {
    schema,
    subresources: {
      ...(hasStatus ? { status: {} } : {}),
      ...(subresources.scale === undefined ? {} : { scale: subresources.scale }),
    },
    printerColumns,
  };
}

function printed(
  { name, jsonPath, type, format, description, priority }: PrinterColumn,
  schema: StructuralSchema,
  problems: Problems,
): CustomResourceColumns[number] {
  const found = type ?? columnType(schema, jsonPath);
  if (found === undefined)
    problems.add([jsonPath], `is in column ${name}, and of no type that shows: give the column one`);
  return {
    name,
    type: found ?? "string",
    jsonPath,
    ...(format === undefined ? {} : { format }),
    ...(description === undefined ? {} : { description }),
    ...(priority === undefined ? {} : { priority }),
  };
}

function columnType(schema: StructuralSchema, path: string): PrinterColumn["type"] {
  if (path === ".metadata.creationTimestamp" || path === ".metadata.deletionTimestamp") return "date";
  if (path.startsWith(".metadata.")) return path === ".metadata.generation" ? "integer" : "string";
  const found = schemaAt(schema, path);
  if (found?.["x-kubernetes-int-or-string"] === true) return "string";
  if (found?.type === "string") return found.format === "date-time" ? "date" : "string";
  return found?.type === "array" || found?.type === "object" ? undefined : found?.type;
}

/** The schema at a path of field names. */
function schemaAt(schema: StructuralSchema, path: string): StructuralSchema | undefined {
  let found: StructuralSchema | undefined = schema;
  for (const name of path.split(".").slice(1))
    found =
      found?.properties !== undefined && Object.hasOwn(found.properties, name) ? found.properties[name] : undefined;
  return path.startsWith(".") ? found : undefined;
}
