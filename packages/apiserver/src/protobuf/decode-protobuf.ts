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
  const [[apiVersion = "", kind = ""] = [], raw = new Uint8Array()] = readFields(
    bytes.subarray(MAGIC.length),
    (reader) => readFields(reader.bytes(), readText, readText),
    readBytes,
  );
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
  const [key = "", value] = readFields(bytes, readText, (reader) => readValue(schemas, reader, valueSchema));
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
      return readFields(reader.bytes(), readText)[0] ?? "0";
    case "intOrString":
      return readIntOrString(reader.bytes());
    default:
      return scalar satisfies never;
  }
}

/** Reads seconds and nanoseconds since 1970. Go's zero time is an empty message and means absence. */
function readTime(bytes: Uint8Array, micro: boolean): string | undefined {
  if (bytes.length === 0) return undefined;
  const [seconds = 0, nanos = 0] = readFields(bytes, readInteger, readInteger);
  if (Math.abs(seconds) > MAX_SECONDS) throw new ProtobufError(`proto: time of ${seconds} seconds is out of range`);
  const text = formatTime(seconds * 1000);
  return micro ? `${text.slice(0, -1)}.${String(Math.floor(nanos / 1000)).padStart(6, "0")}Z` : text;
}

/** Maximum of a JavaScript Date. */
const MAX_SECONDS = 8_640_000_000_000;

function readIntOrString(bytes: Uint8Array): string | number {
  const [type = 0, number = 0, text = ""] = readFields(bytes, readInteger, readInteger, readText);
  return type === 1 ? text : number;
}

/** Reads `FieldsV1` and `RawExtension`: JSON text in field 1. */
function readRawJson(bytes: Uint8Array): unknown {
  const [text = ""] = readFields(bytes, readText);
  try {
    return JSON.parse(text === "" ? "null" : text);
  } catch {
    throw new ProtobufError("invalid JSON in a raw value");
  }
}

type ReadField<T> = (reader: WireReader) => T;

const readText: ReadField<string> = (reader) => reader.text();
const readBytes: ReadField<Uint8Array> = (reader) => reader.bytes();
const readInteger: ReadField<number> = (reader) => reader.integer();

/** Returns the values of a message's fields with the numbers 1, 2 and so on. Skips other fields. */
function readFields<T extends unknown[]>(
  bytes: Uint8Array,
  ...read: { readonly [Index in keyof T]: ReadField<T[Index]> }
): { [Index in keyof T]: T[Index] | undefined } {
  const values: unknown[] = [];
  const reader = new WireReader(bytes);
  while (reader.next()) {
    const readField = read[reader.field - 1];
    if (readField === undefined) reader.skip();
    else values[reader.field - 1] = readField(reader);
  }
  return values as { [Index in keyof T]: T[Index] | undefined };
}

function isNumber(scalar: ScalarType): boolean {
  return scalar === "int32" || scalar === "int64" || scalar === "boolean";
}
