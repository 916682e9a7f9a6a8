import { DYN, Timestamp, type Type, type Value, parseTimestamp } from "@kubewright/cel";

import { isJsonObject } from "../json.js";
import { JsonListValue, JsonMapValue } from "../json-values.js";

/**
 * Converts JSON to a CEL value lazily. Uses the type where it contains more information than the JSON.
 *
 * Upstream: `TypedToVal` and `UnstructuredToVal` without a schema, in apiserver's `pkg/cel/common`.
 */
export function dynamicValue(json: unknown, type: Type = DYN): Value {
  switch (typeof json) {
    case "string":
      return type.kind === "timestamp" ? new Timestamp(parseTimestamp(json) ?? 0n) : json;
    case "boolean":
      return json;
    case "number":
      return Number.isInteger(json) ? BigInt(json) : json;
    default:
  }
  if (Array.isArray(json)) {
    const itemType = type.kind === "list" ? type.item : DYN;
    return new JsonListValue(json as unknown[], (item) => dynamicValue(item, itemType));
  }
  if (!isJsonObject(json)) return null;
  const fields = type.kind === "object" ? type.fields : undefined;
  const valueType = type.kind === "map" ? type.value : DYN;
  return new JsonMapValue(
    json,
    (member, name) => dynamicValue(member, fields === undefined ? valueType : (fields.get(name) ?? DYN)),
    fields === undefined ? undefined : type,
  );
}
