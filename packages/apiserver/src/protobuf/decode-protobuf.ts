import { formatTime } from "@kubewright/api";

import { base64 } from "../base64.js";
import { setMember } from "../json.js";
import type { BuiltInSchemas } from "../schema/built-in-schemas.js";
import type { FieldSchema, ObjectSchema, ScalarType, Schema } from "../schema/schema.js";
import { ProtobufError, WireReader } from "./wire-reader.js";

export const PROTOBUF_MEDIA_TYPE = "application/vnd.kubernetes.protobuf";

/** Every body begins with these four bytes: `k8s` and a zero. */
const MAGIC = [0x6b, 0x38, 0x73, 0x00];

/**
 * Decodes an object of a built-in kind from Kubernetes' protobuf to JSON data. The body is the magic bytes and a
 * `runtime.Unknown` that contains the kind and the object. Drops fields without a number here, as a server drops
 * unknown fields. For an unknown kind returns only the kind.
 *
 * @throws ProtobufError when the bytes are something else.
 * @see apimachinery `pkg/runtime/serializer/protobuf`
 */
export function decodeProtobuf(bytes: Uint8Array, schemas: BuiltInSchemas): Record<string, unknown> {
  if (MAGIC.some((byte, index) => bytes[index] !== byte)) {
    throw new ProtobufError(
      `provided data does not appear to be a protobuf message, expected prefix [${MAGIC.join(" ")}]`,
    );
  }
  let apiVersion = "";
  let kind = "";
  let raw: Uint8Array = new Uint8Array();
  const unknown = new WireReader(bytes.subarray(MAGIC.length));
  while (unknown.next()) {
    if (unknown.field === 1) {
      const typeMeta = new WireReader(unknown.bytes());
      while (typeMeta.next()) {
        if (typeMeta.field === 1) apiVersion = typeMeta.text();
        else if (typeMeta.field === 2) kind = typeMeta.text();
        else typeMeta.skip();
      }
    } else if (unknown.field === 2) raw = unknown.bytes();
    else unknown.skip();
  }
  const head = { ...(apiVersion === "" ? {} : { apiVersion }), ...(kind === "" ? {} : { kind }) };
  const schema = schemas.ofKind(apiVersion, kind);
  if (schema === undefined) return head;
  const numbered = schemas.numberedFieldsOfKind(apiVersion, kind);
  if (numbered.length === 0) throw new ProtobufError(`kind ${JSON.stringify(kind)} is not understood as protobuf`);
  return { ...head, ...readMessage(schemas, raw, schema, numbered, {}) };
}

/** Reads into `result`, because the fields of inlined messages belong to the outer object. */
function readMessage(
  schemas: BuiltInSchemas,
  bytes: Uint8Array,
  schema: ObjectSchema,
  numbered: readonly string[],
  result: Record<string, unknown>,
): Record<string, unknown> {
  const reader = new WireReader(bytes);
  while (reader.next()) {
    const name = numbered[reader.field - 1];
    if (name?.startsWith("~") === true) {
      readMessage(schemas, reader.bytes(), schema, schemas.numberedFields(name.slice(1)), result);
      continue;
    }
    const field = name === undefined ? undefined : schema.fields.get(name);
    if (field === undefined) reader.skip();
    else readField(schemas, reader, field, result);
  }
  return result;
}

function readField(
  schemas: BuiltInSchemas,
  reader: WireReader,
  { name, schema }: FieldSchema,
  result: Record<string, unknown>,
): void {
  if (schema.type === "list") {
    const list = (result[name] ??= []) as unknown[];
    if (schema.item.type === "scalar" && isNumber(schema.item.scalar) && reader.isPacked) list.push(...reader.packed());
    else list.push(readValue(schemas, reader, schema.item));
    return;
  }
  if (schema.type === "map") {
    readEntry(schemas, reader.bytes(), schema.value, (result[name] ??= {}) as Record<string, unknown>);
    return;
  }
  const value = readValue(schemas, reader, schema);
  if (value !== undefined) result[name] = value;
}

function readEntry(
  schemas: BuiltInSchemas,
  bytes: Uint8Array,
  valueSchema: Schema,
  map: Record<string, unknown>,
): void {
  const entry = new WireReader(bytes);
  let key = "";
  let value: unknown;
  while (entry.next()) {
    if (entry.field === 1) key = entry.text();
    else if (entry.field === 2) value = readValue(schemas, entry, valueSchema);
    else entry.skip();
  }
  setMember(map, key, value ?? (valueSchema.type === "list" ? [] : valueSchema.type === "object" ? {} : ""));
}

function readValue(schemas: BuiltInSchemas, reader: WireReader, schema: Schema): unknown {
  switch (schema.type) {
    case "object":
      return readMessage(schemas, reader.bytes(), schema, schemas.numberedFields(schema.name), {});
    case "scalar":
      return readScalar(reader, schema.scalar);
    case "list": {
      // A list as map value is wrapped in a message (`authentication.k8s.io` ExtraValue).
      const items: unknown[] = [];
      const wrapped = new WireReader(reader.bytes());
      while (wrapped.next()) items.push(readValue(schemas, wrapped, schema.item));
      return items;
    }
    case "any":
      return readRawJson(reader.bytes());
    case "map":
      throw new ProtobufError("proto: maps of maps do not exist");
    default:
      return schema satisfies never;
  }
}

function readScalar(reader: WireReader, scalar: ScalarType): unknown {
  switch (scalar) {
    case "string":
      return reader.text();
    case "int32":
    case "int64":
      return reader.integer();
    case "boolean":
      return reader.integer() !== 0;
    case "double":
      return reader.double();
    case "bytes":
      return base64(reader.bytes());
    case "time":
    case "microtime":
      return readTime(reader.bytes(), scalar === "microtime");
    case "quantity":
      return readQuantity(reader.bytes());
    case "intOrString":
      return readIntOrString(reader.bytes());
    default:
      return scalar satisfies never;
  }
}

/** Reads seconds and nanoseconds since 1970. Go's zero time is an empty message and means absence. */
function readTime(bytes: Uint8Array, micro: boolean): string | undefined {
  if (bytes.length === 0) return undefined;
  let seconds = 0;
  let nanos = 0;
  const reader = new WireReader(bytes);
  while (reader.next()) {
    if (reader.field === 1) seconds = reader.integer();
    else if (reader.field === 2) nanos = reader.integer();
    else reader.skip();
  }
  if (Math.abs(seconds) > MAX_SECONDS) throw new ProtobufError(`proto: time of ${seconds} seconds is out of range`);
  const text = formatTime(seconds * 1000);
  return micro ? `${text.slice(0, -1)}.${String(Math.floor(nanos / 1000)).padStart(6, "0")}Z` : text;
}

/** Maximum of a JavaScript Date. */
const MAX_SECONDS = 8_640_000_000_000;

function readQuantity(bytes: Uint8Array): string {
  const reader = new WireReader(bytes);
  let text = "0";
  while (reader.next()) {
    if (reader.field === 1) text = reader.text();
    else reader.skip();
  }
  return text;
}

function readIntOrString(bytes: Uint8Array): string | number {
  const reader = new WireReader(bytes);
  let isString = false;
  let number = 0;
  let text = "";
  while (reader.next()) {
    if (reader.field === 1) isString = reader.integer() === 1;
    else if (reader.field === 2) number = reader.integer();
    else if (reader.field === 3) text = reader.text();
    else reader.skip();
  }
  return isString ? text : number;
}

/** Reads `FieldsV1` and `RawExtension`: JSON text in field 1. */
function readRawJson(bytes: Uint8Array): unknown {
  const reader = new WireReader(bytes);
  let text = "null";
  while (reader.next()) {
    if (reader.field === 1) text = reader.text();
    else reader.skip();
  }
  try {
    return JSON.parse(text === "" ? "null" : text);
  } catch {
    throw new ProtobufError("invalid JSON in a raw value");
  }
}

function isNumber(scalar: ScalarType): boolean {
  return scalar === "int32" || scalar === "int64" || scalar === "boolean";
}
