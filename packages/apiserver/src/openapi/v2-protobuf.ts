import { type JsonObject, isJsonObject } from "../json.js";
import { WireWriter } from "../protobuf/wire-writer.js";

/** Writes a member of a JSON object into its message. */
type Write = (writer: WireWriter, value: unknown) => void;
/** Encodes a value as a message. */
type Encode = (value: unknown) => WireWriter;

/**
 * Encodes an OpenAPI v2 document as protobuf for kubectl. Omits members without a field number here.
 *
 * @see gnostic `openapiv2/OpenAPIv2.proto`
 */
export function openApiV2Protobuf(document: JsonObject): Uint8Array {
  return message(document, DOCUMENT).bytes;
}

function message(value: unknown, members: Readonly<Record<string, Write>>, extensions?: number): WireWriter {
  const writer = new WireWriter();
  if (!isJsonObject(value)) return writer;
  for (const [name, member] of Object.entries(value)) {
    if (member === undefined || member === null) continue;
    if (extensions !== undefined && name.startsWith("x-")) writer.message(extensions, named(name, any(member)));
    else if (Object.hasOwn(members, name)) members[name]!(writer, member);
  }
  return writer;
}

/** Encodes a message that consists of one member. */
const only =
  (write: Write): Encode =>
  (value) => {
    const writer = new WireWriter();
    write(writer, value);
    return writer;
  };

/** Encodes `Any`: the value as YAML. JSON is valid YAML. */
function any(value: unknown): WireWriter {
  return only(text(2))(JSON.stringify(value));
}

function named(name: string, value: WireWriter): WireWriter {
  const writer = new WireWriter();
  writer.text(1, name);
  writer.message(2, value);
  return writer;
}

const text =
  (field: number): Write =>
  (writer, value) => {
    if (typeof value === "string") writer.text(field, value);
  };
const texts =
  (field: number): Write =>
  (writer, value) => {
    for (const item of listOf(value)) text(field)(writer, item);
  };
const integer =
  (field: number): Write =>
  (writer, value) => {
    if (Number.isSafeInteger(value)) writer.integer(field, value as number);
  };
const double =
  (field: number): Write =>
  (writer, value) => {
    if (typeof value === "number") writer.double(field, value);
  };
const flag =
  (field: number): Write =>
  (writer, value) => {
    if (value === true) writer.integer(field, 1);
  };
const inner =
  (field: number, encode: Encode): Write =>
  (writer, value) =>
    writer.message(field, encode(value));
/** Encodes a map: one message of name and value per member. */
const entries =
  (field: number, encode: Encode): Write =>
  (writer, value) => {
    for (const [name, member] of Object.entries(value as JsonObject))
      writer.message(field, named(name, encode(member)));
  };

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [value];
}

const schema: Encode = (value) => message(value, SCHEMA, 31);

const SCHEMA: Readonly<Record<string, Write>> = {
  $ref: text(1),
  format: text(2),
  title: text(3),
  description: text(4),
  default: inner(5, any),
  multipleOf: double(6),
  maximum: double(7),
  exclusiveMaximum: flag(8),
  minimum: double(9),
  exclusiveMinimum: flag(10),
  maxLength: integer(11),
  minLength: integer(12),
  pattern: text(13),
  maxItems: integer(14),
  minItems: integer(15),
  uniqueItems: flag(16),
  maxProperties: integer(17),
  minProperties: integer(18),
  required: texts(19),
  enum: (writer, value) => {
    for (const item of listOf(value)) writer.message(20, any(item));
  },
  additionalProperties: inner(21, (value) =>
    typeof value === "boolean" ? only(integer(2))(Number(value)) : only(inner(1, schema))(value),
  ),
  type: inner(22, only(texts(1))),
  items: inner(23, only(inner(1, schema))),
  properties: inner(25, only(entries(1, schema))),
  example: inner(30, any),
};

/** A parameter may be in four places; the documents here use only bodies and queries. */
function parameter(value: unknown): WireWriter {
  const isBody = isJsonObject(value) && value["in"] === "body";
  const body = inner(1, (each) => message(each, BODY_PARAMETER));
  const query = inner(3, (each) => message(each, QUERY_PARAMETER));
  return only(inner(1, only(isBody ? body : inner(2, only(query)))))(value);
}

const BODY_PARAMETER: Readonly<Record<string, Write>> = {
  description: text(1),
  name: text(2),
  in: text(3),
  required: flag(4),
  schema: inner(5, schema),
};

const QUERY_PARAMETER: Readonly<Record<string, Write>> = {
  required: flag(1),
  in: text(2),
  description: text(3),
  name: text(4),
  type: text(6),
  format: text(7),
};

const response: Encode = (value) => message(value, { description: text(1) });

const OPERATION: Readonly<Record<string, Write>> = {
  produces: texts(6),
  consumes: texts(7),
  parameters: (writer, value) => {
    for (const item of listOf(value)) writer.message(8, parameter(item));
  },
  responses: inner(9, only(entries(1, only(inner(1, response))))),
};

const operation: Encode = (value) => message(value, OPERATION, 13);

const PATH_ITEM: Readonly<Record<string, Write>> = {
  get: inner(2, operation),
  put: inner(3, operation),
  post: inner(4, operation),
  delete: inner(5, operation),
  patch: inner(8, operation),
};

const DOCUMENT: Readonly<Record<string, Write>> = {
  swagger: text(1),
  info: inner(2, (value) => message(value, { title: text(1), version: text(2) })),
  paths: inner(8, only(entries(2, (item) => message(item, PATH_ITEM)))),
  definitions: inner(9, only(entries(1, schema))),
};
