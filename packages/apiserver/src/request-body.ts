import type { ApiRequest, RequestBody } from "@kubewright/transport";

import { badRequest, tooLarge, unsupportedMediaType } from "./api-error.js";
import { type JsonObject, isJsonObject } from "./json.js";
import { TOO_DEEP, isNestedDeeper } from "./nesting.js";
import { PROTOBUF_MEDIA_TYPE, decodeProtobuf } from "./protobuf/decode-protobuf.js";
import { ProtobufError } from "./protobuf/wire-reader.js";
import type { BuiltInSchemas } from "./schema/built-in-schemas.js";
import { parseYaml } from "./yaml.js";

export const MAX_BODY_BYTES = 3 * 1024 * 1024;
const BODY_MEDIA_TYPES: readonly string[] = ["application/json", "application/yaml"];

/** A body as JSON data, with its text if it came as JSON text. */
export interface BodyData {
  readonly value: JsonObject;
  /** The text of a JSON body; `undefined` for a body in another form. */
  readonly text: string | undefined;
}

/** Returns the media type without parameters; JSON when the header is missing. */
export function mediaTypeOf(contentType: string | readonly string[] | undefined): string {
  if (typeof contentType !== "string" || contentType === "") return "application/json";
  const end = contentType.indexOf(";");
  return (end < 0 ? contentType : contentType.slice(0, end)).trim();
}

/** @throws ApiError 413 */
export function checkBodyLength(bytes: Uint8Array): void {
  if (bytes.byteLength > MAX_BODY_BYTES) throw tooLarge(`limit is ${MAX_BODY_BYTES}`);
}

export function bodyText(body: RequestBody | undefined): string {
  if (body === undefined) return "";
  if (body.type === "decoded") return JSON.stringify(body.value);
  checkBodyLength(body.bytes);
  return new TextDecoder().decode(body.bytes);
}

/**
 * Parses JSON text.
 *
 * @throws Error with Go's message when it is nested too deeply, otherwise SyntaxError.
 */
export function parseJson(text: string): unknown {
  const value: unknown = JSON.parse(text);
  if (isNestedDeeper(value)) throw new Error(TOO_DEEP);
  return value;
}

/**
 * Reads the body of a request, which contains one object. Does not check the nesting of a decoded body (`MAX_NESTING`): the caller
 * checks it while copying.
 *
 * @param schemas - Schemas for protobuf; `undefined` when the resource does not accept protobuf, as custom resources.
 * @throws ApiError 415 for another media type, 413 for too many bytes, 400 when the body is no object.
 */
export function readObjectBody(
  { headers, body }: Pick<ApiRequest, "headers" | "body">,
  expectedKind: string,
  schemas?: BuiltInSchemas,
): BodyData {
  const contentType = mediaTypeOf(headers["content-type"]);
  if (contentType === PROTOBUF_MEDIA_TYPE && schemas !== undefined && body?.type === "bytes")
    return { value: protobufObject(body.bytes, expectedKind, schemas), text: undefined };
  const yaml = contentType === "application/yaml";
  if (!yaml && contentType !== "application/json")
    throw unsupportedMediaType(schemas === undefined ? BODY_MEDIA_TYPES : [...BODY_MEDIA_TYPES, PROTOBUF_MEDIA_TYPE]);
  if (body?.type === "decoded") {
    if (isJsonObject(body.value)) return { value: body.value, text: undefined };
    throw unrecognized(
      expectedKind,
      "couldn't get version/kind; json parse error: not an object",
      isNestedDeeper(body.value) ? "" : (JSON.stringify(body.value) ?? ""),
    );
  }
  const text = bodyText(body);
  let value: unknown;
  try {
    value = yaml ? parseYaml(text) : parseJson(text);
  } catch (error) {
    const detail = (error as Error).message.split("\n", 1)[0] ?? "";
    throw unrecognized(
      expectedKind,
      yaml ? `yaml: ${detail}` : `couldn't get version/kind; json parse error: ${detail}`,
      text,
    );
  }
  if (isJsonObject(value)) return { value, text: yaml ? undefined : text };
  if (value === null) return { value: {}, text: undefined };
  throw unrecognized(
    expectedKind,
    `couldn't get version/kind; json parse error: json: cannot unmarshal ${Array.isArray(value) ? "array" : typeof value} into Go value`,
    text,
  );
}

function protobufObject(bytes: Uint8Array, expectedKind: string, schemas: BuiltInSchemas): JsonObject {
  checkBodyLength(bytes);
  try {
    const value = decodeProtobuf(bytes, schemas);
    if (isNestedDeeper(value)) throw new ProtobufError(TOO_DEEP);
    return value;
  } catch (error) {
    if (error instanceof ProtobufError) throw unrecognized(expectedKind, error.message, bytes);
    throw error;
  }
}

function unrecognized(expectedKind: string, detail: string, body: string | Uint8Array): Error {
  const bytes = typeof body === "string" ? new TextEncoder().encode(body) : body;
  return badRequest(
    `the object provided is unrecognized (must be of type ${expectedKind}): ${detail} (${summary(bytes)})`,
  );
}

/** Returns the first bytes of an unreadable body: as text when it looks like JSON, otherwise in hexadecimal. */
function summary(bytes: Uint8Array): string {
  if (bytes.byteLength === 0) return "<empty>";
  const first = bytes.subarray(0, 30);
  const shown =
    first[0] === 0x7b
      ? new TextDecoder().decode(first)
      : [...first].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  return bytes.byteLength > 30 ? `${shown} ...` : shown;
}
