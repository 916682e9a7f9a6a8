import type { KubernetesObject } from "@kubewright/api";

import type { ApiCall } from "./api-call.js";
import { badRequest, statusError } from "./api-error.js";
import type { ServedResource } from "./served-resource.js";
import type { TableColumn, TablePrinter } from "./strategy.js";
import type { Transform } from "./transform.js";

const DEFAULT_PRINTER: TablePrinter<KubernetesObject> = {
  columns: [
    { name: "Name", type: "string", format: "name" },
    { name: "Created At", type: "date" },
  ],
  cells: ({ metadata }) => [metadata.name ?? "", metadata.creationTimestamp ?? ""],
};

interface TableMetadata {
  readonly resourceVersion?: string;
  readonly continue?: string;
  readonly remainingItemCount?: number;
}

/** One object as Table or PartialObjectMetadata. @throws ApiError 400, 406 */
export function transformObject(call: ApiCall, transform: Transform, object: KubernetesObject): unknown {
  switch (transform.as) {
    case "Table": {
      const { resourceVersion } = object.metadata;
      return table(call, transform, resourceVersion === undefined ? {} : { resourceVersion }, [object], true);
    }
    case "PartialObjectMetadata":
      return partial(object, transform);
    case "PartialObjectMetadataList":
      throw statusError(
        406,
        "NotAcceptable",
        `you requested PartialObjectMetadataList, but the requested object is not a list (*${goType(call.target.resource)})`,
      );
    default:
      return transform.as satisfies never;
  }
}

/** A list the same way. */
export function transformList(
  call: ApiCall,
  transform: Transform,
  metadata: TableMetadata,
  objects: readonly KubernetesObject[],
): unknown {
  switch (transform.as) {
    case "Table":
      return table(call, transform, metadata, objects, true);
    case "PartialObjectMetadataList":
      return {
        kind: "PartialObjectMetadataList",
        apiVersion: `meta.k8s.io/${transform.version}`,
        metadata,
        items: objects.map((object) => partial(object, transform)),
      };
    case "PartialObjectMetadata":
      throw statusError(
        406,
        "NotAcceptable",
        `you requested PartialObjectMetadata, but the requested object is a list (*${goType(call.target.resource)}List)`,
      );
    default:
      return transform.as satisfies never;
  }
}

/** The object of a watch event the same way; `first`: a Table says its columns only once per stream. */
export function transformEvent(
  call: ApiCall,
  transform: Transform,
  object: KubernetesObject,
  first: boolean,
  bookmark: boolean,
): unknown {
  if (transform.as !== "Table") return partial(object, transform);
  const { resourceVersion } = object.metadata;
  return table(call, transform, resourceVersion === undefined ? {} : { resourceVersion }, [object], first, bookmark);
}

function table(
  call: ApiCall,
  transform: Transform,
  metadata: TableMetadata,
  objects: readonly KubernetesObject[],
  withColumns: boolean,
  bookmark = false,
): unknown {
  const { resource } = call.target;
  const printer = resource.strategy.printer ?? DEFAULT_PRINTER;
  const include = includeObject(call);
  const nowMs = call.server.clock.now();
  return {
    kind: "Table",
    apiVersion: `meta.k8s.io/${transform.version}`,
    metadata,
    columnDefinitions: withColumns ? printer.columns.map(columnDefinition) : null,
    rows: objects.map((object) => {
      const conditions = printer.rowConditions?.(object) ?? [];
      return {
        cells: printer.cells(object, nowMs),
        ...(conditions.length === 0 ? {} : { conditions }),
        object: bookmark
          ? partial(object, transform)
          : include === "None"
            ? null
            : include === "Object"
              ? object
              : partial(object, transform),
      };
    }),
  };
}

/** @throws ApiError 400 */
export function includeObject(call: ApiCall): "None" | "Object" | "Metadata" {
  const value = call.query.get("includeObject") ?? "";
  if (value === "" || value === "Metadata") return "Metadata";
  if (value === "None" || value === "Object") return value;
  throw badRequest(
    `Unable to convert to Table as requested: includeObject: Invalid value: ${JSON.stringify(value)}: must be 'Metadata', 'Object', 'None', or empty`,
  );
}

function columnDefinition({ name, type, format = "", description = "", priority = 0 }: TableColumn): object {
  return { name, type, format, description, priority };
}

function partial(object: KubernetesObject, transform: Transform): unknown {
  return { kind: "PartialObjectMetadata", apiVersion: `meta.k8s.io/${transform.version}`, metadata: object.metadata };
}

function goType({ group, kind }: ServedResource): string {
  return `${group === "" ? "core" : (group.split(".", 1)[0] ?? "")}.${kind}`;
}
