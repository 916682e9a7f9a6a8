import type { KubernetesObject } from "@kubewright/api";

import type { ApiCall } from "../api-call.js";
import { badRequest, invalid } from "../api-error.js";
import { duplicateFields } from "../duplicate-fields.js";
import { FieldErrors } from "../field-errors.js";
import { isJsonObject } from "../json.js";
import { isNestedDeeper } from "../nesting.js";
import type { WriteOptions } from "../registry/options.js";
import { warn } from "../registry/write.js";
import { readObjectBody } from "../request-body.js";
import { DecodeError, noFindings } from "../schema/decode.js";

/**
 * Decodes the object of a create or update. Returns a private copy with defaults; its kind matches the path.
 *
 * @param current - The version that an update replaces. An in-process client usually sends parts of it back unchanged.
 * @throws ApiError 400, 413, 415
 */
export function decodeRequestObject(
  call: ApiCall,
  options: Pick<WriteOptions, "fieldValidation">,
  current?: KubernetesObject,
): KubernetesObject {
  const { resource } = call.target;
  const schemas = resource.custom === undefined ? call.server.schemas : undefined;
  const body = readObjectBody(call.request, resource.kind, schemas);
  checkKind(call, body.value);
  const refuse = (why: string): Error => cannotBeHandled(resource.kind, resource.version, resource.kind, why);
  const { object, unknownFields } = decodeObject(call, body.value, current, (error) => refuse(error.message));
  const text = options.fieldValidation === "Ignore" ? undefined : body.text;
  const problems = text === undefined ? unknownFields : [...duplicateProblems(text), ...unknownFields];
  reportProblems(call, options, problems.slice(0, 100), refuse);
  resource.strategy.applyDefaults?.(object, current);
  return object;
}

/**
 * Decodes data as an object of the resource, and counts its bytes.
 *
 * @param current - The version that the data was made from, if any: the object shares equal parts with it.
 * @param refuse - Returns the error for data that is no such object.
 * @param isOwned - Whether only the caller uses the data. Default false.
 */
export function decodeObject(
  call: ApiCall,
  value: unknown,
  current: KubernetesObject | undefined,
  refuse: (error: DecodeError) => Error,
  isOwned = false,
): { readonly object: KubernetesObject; readonly unknownFields: readonly string[] } {
  const findings = noFindings();
  try {
    const object = call.target.resource.decode(value, findings, current, isOwned);
    call.newBytes += findings.size;
    const { unknownFields } = findings;
    return { object, unknownFields: unknownFields.map((path) => `unknown field ${JSON.stringify(path)}`) };
  } catch (error) {
    throw error instanceof DecodeError ? refuse(error) : error;
  }
}

/** Describes the members that occur more than once in the text. */
export function duplicateProblems(text: string): string[] {
  return duplicateFields(text).map((path) => `duplicate field ${JSON.stringify(path)}`);
}

/** Warns about unknown and duplicate fields, or refuses them if the request asks for that. */
export function reportProblems(
  call: ApiCall,
  { fieldValidation }: Pick<WriteOptions, "fieldValidation">,
  problems: readonly string[],
  refuse: (why: string) => Error,
): void {
  if (problems.length === 0 || fieldValidation === "Ignore") return;
  if (fieldValidation === "Strict") throw refuse(`strict decoding error: ${problems.join(", ")}`);
  warn(call, problems);
}

function checkKind(call: ApiCall, value: Record<string, unknown>): void {
  const { resource } = call.target;
  if (value["apiVersion"] === resource.apiVersion && value["kind"] === resource.kind) return;
  const given = { apiVersion: value["apiVersion"], kind: value["kind"] };
  for (const member of ["apiVersion", "kind"] as const) {
    const text = given[member];
    if (text !== undefined && text !== null && typeof text !== "string") {
      throw badRequest(
        `couldn't get version/kind; json parse error: json: cannot unmarshal ${typeof text} into Go struct field .${member} of type string`,
      );
    }
  }
  if (resource.custom !== undefined && !given.kind) {
    const text = isNestedDeeper(value) ? "" : JSON.stringify(value);
    throw badRequest(
      `the object provided is unrecognized (must be of type ${resource.kind}): Object 'Kind' is missing in '${text}' (${text.length > 30 ? `${text.slice(0, 30)} ...` : text})`,
    );
  }
  const apiVersion = (given.apiVersion as string | undefined) || resource.apiVersion;
  const kind = (given.kind as string | undefined) || resource.kind;
  if (apiVersion === resource.apiVersion && kind === resource.kind) return;
  if (resource.custom !== undefined) {
    if (kind !== resource.kind) {
      const errors = new FieldErrors();
      errors.invalid("kind", kind, `must be ${resource.kind}`);
      const name = hasMetadata(value) ? (value.metadata.name ?? "") : "";
      throw invalid({ group: resource.group, kind }, name, errors);
    }
    if (apiVersion === resource.apiVersion) return;
    // A version that no definition declares has no schema: all fields are unknown.
    const [, version = ""] = apiVersion.split("/");
    if (call.server.registry.find(resource.group, version, resource.resource) === undefined) {
      const members = Object.keys(value).filter((key) => !["apiVersion", "kind", "metadata"].includes(key));
      warn(
        call,
        members.map((key) => `unknown field ${JSON.stringify(key)}`),
      );
    }
    throw badRequest(
      `the API version in the data (${apiVersion}) does not match the expected API version (${resource.apiVersion})`,
    );
  }
  if (kind === resource.kind && call.server.registry.knowsKind(apiVersion, kind))
    throw badRequest(
      `the API version in the data (${apiVersion}) does not match the expected API version (${resource.apiVersion})`,
    );
  const version = apiVersion.split("/").at(-1) ?? "";
  throw cannotBeHandled(kind, version, resource.kind, whyOtherKind(call, apiVersion, kind));
}

/** Returns why an object of another built-in kind cannot be converted to the resource's kind. */
export function whyOtherKind({ server, target: { resource } }: ApiCall, apiVersion: string, kind: string): string {
  const { registry } = server;
  if (!registry.knowsKind(apiVersion, kind))
    return `no kind ${JSON.stringify(kind)} is registered for version ${JSON.stringify(apiVersion)} in scheme "pkg/api/legacyscheme/scheme.go:30"`;
  const internal = resource.group === "" ? "core" : (resource.group.split(".", 1)[0] ?? "");
  return `converting (${apiVersion.split("/").at(-1)}.${kind}) to (${internal}.${resource.kind}): unknown conversion`;
}

function cannotBeHandled(kind: string, version: string, expected: string, why: string): Error {
  return badRequest(`${kind} in version ${JSON.stringify(version)} cannot be handled as a ${expected}: ${why}`);
}

/** Whether the value is an object whose `metadata` is an object. */
export function hasMetadata(value: unknown): value is KubernetesObject {
  return isJsonObject(value) && isJsonObject(value["metadata"]);
}
