import type { KubernetesObject } from "@kubewright/api";

import type { ApiCall } from "./api-call.js";
import { badRequest, statusError } from "./api-error.js";
import type { ListBody, ListHead, ListMetadata } from "./reply.js";
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

/**
 * Converts one object to a Table or PartialObjectMetadata.
 *
 * @throws ApiError 400, 406
 */
export function transformObject(call: ApiCall, transform: Transform, object: KubernetesObject): unknown {
  switch (transform.as) {
    case "Table":
      return table(call, transform, object, true);
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

/** Shape of a list response. */
export interface ListShape {
  readonly head: ListHead;
  readonly member: ListBody["member"];
  readonly toElement: (object: KubernetesObject) => unknown;
}

/**
 * Returns the shape of a list as Table or PartialObjectMetadataList.
 *
 * @throws ApiError 400, 406
 */
export function shapeOfList(call: ApiCall, transform: Transform, metadata: ListMetadata): ListShape {
  switch (transform.as) {
    case "Table": {
      const rows = rowsOf(call, transform);
      return { head: tableHead(call, transform, metadata, true), member: "rows", toElement: rows };
    }
    case "PartialObjectMetadataList":
      return {
        head: { kind: "PartialObjectMetadataList", apiVersion: `meta.k8s.io/${transform.version}`, metadata },
        member: "items",
        toElement: (object) => partial(object, transform),
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

/**
 * Converts the object of a watch event.
 *
 * @param first - Whether this is the stream's first event: only its Table has column definitions.
 */
export function transformEvent(
  call: ApiCall,
  transform: Transform,
  object: KubernetesObject,
  first: boolean,
  bookmark: boolean,
): unknown {
  if (transform.as !== "Table") return partial(object, transform);
  return table(call, transform, object, first, bookmark);
}

/** Returns a Table with one row. */
function table(
  call: ApiCall,
  transform: Transform,
  object: KubernetesObject,
  withColumns: boolean,
  bookmark = false,
): unknown {
  const { resourceVersion } = object.metadata;
  const metadata = resourceVersion === undefined ? {} : { resourceVersion };
  return { ...tableHead(call, transform, metadata, withColumns), rows: [rowsOf(call, transform, bookmark)(object)] };
}

function tableHead<Metadata>(
  call: ApiCall,
  transform: Transform,
  metadata: Metadata,
  withColumns: boolean,
): { kind: string; apiVersion: string; metadata: Metadata; columnDefinitions: readonly object[] | null } {
  return {
    kind: "Table",
    apiVersion: `meta.k8s.io/${transform.version}`,
    metadata,
    columnDefinitions: withColumns ? printerOf(call).columns.map(columnDefinition) : null,
  };
}

function printerOf({ target }: ApiCall): TablePrinter<KubernetesObject> {
  return target.resource.strategy.printer ?? DEFAULT_PRINTER;
}

/** @throws ApiError 400 */
function rowsOf(call: ApiCall, transform: Transform, bookmark = false): (object: KubernetesObject) => unknown {
  const printer = printerOf(call);
  const include = includeObject(call);
  const nowMs = call.server.clock.now();
  return (object) => {
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
