import type { KubernetesObject } from "@kubewright/api";

import type { ApiCall } from "../api-call.js";
import {
  badRequest,
  invalid,
  routeUnsupportedMediaType,
  statusError,
  tooLarge,
  unprocessable,
  unsupportedMediaType,
} from "../api-error.js";
import type { Awaitable } from "../awaitable.js";
import { withoutManagedFields } from "../fields/field-tracking.js";
import { FieldErrors } from "../field-errors.js";
import { type JsonObject, goText, isJsonObject, textOf } from "../json.js";
import { MAX_NESTING, TOO_DEEP, isNestedDeeper } from "../nesting.js";
import { JsonPatchError, jsonPatch } from "../patch/json-patch.js";
import { mergePatch } from "../patch/merge-patch.js";
import { StrategicPatchError, strategicMergePatch } from "../patch/strategic-merge-patch.js";
import type { WriteOptions } from "../registry/options.js";
import { missingObjectError } from "../registry/update.js";
import { writeObject } from "../registry/write-object.js";
import type { Reply } from "../reply.js";
import { bodyText, mediaTypeOf } from "../request-body.js";
import { readWriteOptions } from "../write-options.js";
import { apply } from "./apply.js";
import { decodeObject, duplicateProblems, reportProblems, whyOtherKind } from "./decode-object.js";
import { outcomeReply } from "./object-reply.js";

export const JSON_PATCH = "application/json-patch+json";
export const MERGE_PATCH = "application/merge-patch+json";
export const STRATEGIC_MERGE_PATCH = "application/strategic-merge-patch+json";
export const APPLY_PATCH = "application/apply-patch+yaml";
const MAX_OPERATIONS = 10_000;

/** Accepted patch types, in the order of upstream's error message. Strategic merge patches need a schema. */
const ALL_TYPES = [JSON_PATCH, MERGE_PATCH, STRATEGIC_MERGE_PATCH, APPLY_PATCH];
const TYPES_WITHOUT_SCHEMA = [JSON_PATCH, MERGE_PATCH, APPLY_PATCH];

function patchTypes({ target: { resource } }: ApiCall): readonly string[] {
  return resource.schema !== undefined && resource.custom === undefined ? ALL_TYPES : TYPES_WITHOUT_SCHEMA;
}

/** PATCH of an object or its status. Upstream: `handlers.PatchResource`. */
export function patch(call: ApiCall): Awaitable<Reply> {
  const type = mediaTypeOf(call.request.headers["content-type"]);
  const accepted = patchTypes(call);
  if (!accepted.includes(type))
    throw type === STRATEGIC_MERGE_PATCH ? unsupportedMediaType(accepted) : routeUnsupportedMediaType();
  const options = readWriteOptions(call, "PatchOptions", type === APPLY_PATCH);
  if (type === APPLY_PATCH) return apply(call, options);
  let body: unknown;
  const read = (current: KubernetesObject | undefined): KubernetesObject => {
    if (current === undefined) throw missingObjectError(call);
    // Read after the lookup: a missing object takes precedence over an invalid patch.
    body ??= readPatch(call, type, options);
    const patched = applyPatch(
      call,
      type,
      touchesManagedFields(type, body) ? current : withoutManagedFields(current),
      body,
    );
    return decodePatched(call, patched, { type, body, options, current });
  };
  return outcomeReply(call, writeObject(call, options, { read }));
}

/**
 * Returns the patch as JSON data.
 *
 * @throws ApiError 400, 413, 422
 */
export function readPatch(call: ApiCall, type: string, options: WriteOptions): unknown {
  const { body } = call.request;
  const fromText = body?.type === "bytes" && options.fieldValidation !== "Ignore";
  const prefix = type === STRATEGIC_MERGE_PATCH || options.fieldValidation === "Ignore" ? "" : "error decoding patch: ";
  let value: unknown;
  if (body?.type === "decoded") value = body.value;
  else {
    const text = bodyText(body);
    try {
      value = JSON.parse(text);
    } catch (error) {
      throw badRequest(
        `${prefix}${text.trim() === "" || /Unexpected end|Expected .* at position|Unterminated/.test((error as Error).message) ? "unexpected end of JSON input" : `invalid character: ${(error as Error).message}`}`,
      );
    }
  }
  // The list and the operation of a JSON patch add two levels around a value.
  if (isNestedDeeper(value, type === JSON_PATCH ? MAX_NESTING + 2 : MAX_NESTING))
    throw badRequest(`${prefix}${TOO_DEEP}`);
  if (type === JSON_PATCH) {
    if (!Array.isArray(value))
      throw badRequest(`${prefix}json: cannot unmarshal ${goType(value)} into Go value of type []handlers.jsonPatchOp`);
    reportProblems(call, options, value.flatMap(unknownOperationFields), (why) =>
      invalidPatch(type, {}, undefined, why),
    );
    if (value.length > MAX_OPERATIONS)
      throw tooLarge(`The allowed maximum operations in a JSON patch is ${MAX_OPERATIONS}, got ${value.length}`);
    return value;
  }
  if (value === null && type === MERGE_PATCH) throw badRequest("Invalid JSON Patch");
  if (!isJsonObject(value))
    throw badRequest(`${prefix}json: cannot unmarshal ${goType(value)} into Go value of type map[string]interface {}`);
  if (fromText)
    reportProblems(call, options, duplicateProblems(bodyText(body)), (why) =>
      invalidPatch(type, value, undefined, why),
    );
  return value;
}

function unknownOperationFields(operation: unknown, index: number): string[] {
  if (!isJsonObject(operation)) return [];
  const unknown = Object.keys(operation).filter((key) => !["op", "path", "from", "value"].includes(key));
  return unknown.map((key) => `json patch unknown field ${JSON.stringify(`[${index}].${key}`)}`);
}

/**
 * @param body - The patch. The error of a strategic merge patch shows the patch; other errors show the patched object.
 */
function invalidPatch(type: string, body: unknown, patched: unknown, why: string): Error {
  const errors = new FieldErrors();
  errors.invalid("patch", type === STRATEGIC_MERGE_PATCH ? goText(body) : JSON.stringify(patched ?? body), why);
  return invalid({ group: "", kind: "" }, "", errors);
}

/** Most patches do not contain managedFields, and then they need not be copied. */
function touchesManagedFields(type: string, body: unknown): boolean {
  if (type === JSON_PATCH) return true;
  const metadata = (body as JsonObject)["metadata"];
  return isJsonObject(metadata) && metadata["managedFields"] !== undefined;
}

function goType(value: unknown): string {
  return Array.isArray(value) ? "array" : typeof value === "boolean" ? "bool" : typeof value;
}

function applyPatch(call: ApiCall, type: string, current: KubernetesObject, body: unknown): unknown {
  try {
    if (type === MERGE_PATCH) return mergePatch(current, body);
    if (type === STRATEGIC_MERGE_PATCH)
      return strategicMergePatch(call.target.resource.schema!, current as unknown as JsonObject, body as JsonObject);
    return jsonPatch(current, body as unknown[]);
  } catch (error) {
    if (error instanceof JsonPatchError) throw unprocessable();
    if (!(error instanceof StrategicPatchError)) throw error;
    if (error.code === 422) throw unprocessable();
    throw statusError(error.code, error.code === 400 ? "BadRequest" : "", error.message);
  }
}

/** The patch request and the object that it patches. */
interface PatchContext {
  readonly type: string;
  readonly body: unknown;
  readonly options: WriteOptions;
  readonly current: KubernetesObject;
}

/**
 * Decodes the patched document as an object of the resource, with defaults.
 *
 * @throws ApiError 422 for the field `patch` when the document is no such object.
 */
function decodePatched(
  call: ApiCall,
  patched: unknown,
  { type, body, options, current }: PatchContext,
): KubernetesObject {
  const { resource } = call.target;
  const refuse = (why: string): Error => invalidPatch(type, body, patched, why);
  if (!isJsonObject(patched)) throw refuse("the patched document is no object");
  const { apiVersion, kind } = patched;
  // A missing apiVersion or kind is taken from the path.
  const given = { apiVersion: apiVersion ?? resource.apiVersion, kind: kind ?? resource.kind };
  if (given.apiVersion !== resource.apiVersion || given.kind !== resource.kind) {
    if (resource.custom !== undefined && given.kind !== resource.kind) {
      const errors = new FieldErrors();
      errors.invalid("kind", given.kind, `must be ${resource.kind}`);
      throw invalid({ group: resource.group, kind: given.kind as string }, call.target.name, errors);
    }
    throw refuse(whyOtherKind(call, textOf(given.apiVersion), textOf(given.kind)));
  }
  const isStrategic = type === STRATEGIC_MERGE_PATCH;
  const { object, unknownFields } = decodeObject(
    call,
    patched,
    current,
    (error) => refuse(isStrategic ? error.conversion : error.message),
    isStrategic,
  );
  reportProblems(call, options, unknownFields, refuse);
  resource.strategy.applyDefaults?.(object, current);
  return object;
}
