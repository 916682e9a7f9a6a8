import { dns1035LabelErrors } from "@kubewright/api/validation";

import { FieldErrors } from "../field-errors.js";
import { type JsonObject, isJsonObject, ownMember } from "../json.js";
import { validateMetadata } from "../metadata-validation.js";
import { DecodeError, decode, noFindings } from "../schema/decode.js";
import type { ObjectSchema } from "../schema/schema.js";
import { type Path, pathText } from "../message-limit.js";
import { type StructuralSchema, someSchema, visitDeclared } from "./structural-schema.js";

/** Whether a schema contains embedded objects: objects with apiVersion, kind and metadata. */
export function hasEmbeddedObjects(schema: StructuralSchema | undefined): boolean {
  return someSchema(schema, isEmbeddedObject);
}

function isEmbeddedObject(schema: StructuralSchema): boolean {
  return schema["x-kubernetes-embedded-resource"] === true;
}

function visitEmbeddedObjects(
  root: StructuralSchema | undefined,
  value: unknown,
  visit: (object: JsonObject, path: Path) => void,
): void {
  visitDeclared(root, value, (schema, object, path) => {
    if (isEmbeddedObject(schema) && isJsonObject(object)) visit(object, path);
  });
}

/**
 * Decodes the metadata of embedded objects as ObjectMeta, in place. Upstream: `objectmeta.Coerce`.
 *
 * @throws DecodeError when the metadata has another type
 */
export function coerceEmbeddedMetadata(
  schema: StructuralSchema | undefined,
  value: unknown,
  metadata: ObjectSchema,
  onUnknown: (path: string) => void,
): void {
  visitEmbeddedObjects(schema, value, (object, path) => {
    const given = ownMember(object, "metadata");
    if (given === undefined || given === null) return;
    const field = `${path.length === 0 ? "" : `${pathText(path)}.`}metadata`;
    const findings = noFindings();
    try {
      object["metadata"] = decode(metadata, given, findings);
    } catch (error) {
      if (!(error instanceof DecodeError)) throw error;
      throw new DecodeError(`${field}: Invalid value: ${JSON.stringify(given)}: ${error.message}`);
    }
    for (const found of findings.unknownFields) onUnknown(`${field}.${found}`);
  });
}

/**
 * Validates embedded objects. Upstream: `objectmeta.Validate`.
 *
 * @param base - The path of the value. Default: the root.
 * @param isResource - Treats the value itself as an embedded object, regardless of its schema. Default false.
 */
export function validateEmbeddedObjects(
  schema: StructuralSchema | undefined,
  value: unknown,
  errors: FieldErrors,
  base = "",
  isResource = false,
): void {
  const root = isResource && schema !== undefined ? { ...schema, "x-kubernetes-embedded-resource": true } : schema;
  visitEmbeddedObjects(root, value, (object, path) => {
    const below = pathText(path);
    const place = below === "" ? base : base === "" ? below : `${base}.${below}`;
    const at = (name: string): string => (place === "" ? name : `${place}.${name}`);
    for (const name of ["apiVersion", "kind"]) if (ownMember(object, name) === undefined) errors.required(at(name));
    const apiVersion = ownMember(object, "apiVersion");
    if (apiVersion !== undefined) {
      if (typeof apiVersion !== "string") errors.invalid(at("apiVersion"), apiVersion, "must be a string");
      else if (apiVersion === "") errors.invalid(at("apiVersion"), apiVersion, "must not be empty");
      else if (apiVersion.split("/").length > 2)
        errors.invalid(at("apiVersion"), apiVersion, `unexpected GroupVersion string: ${apiVersion}`);
    }
    const kind = ownMember(object, "kind");
    if (kind !== undefined) {
      if (typeof kind !== "string") errors.invalid(at("kind"), kind, "must be a string");
      else if (kind === "") errors.invalid(at("kind"), kind, "must not be empty");
      else {
        const sentences = dns1035LabelErrors(kind.toLowerCase());
        if (sentences.length > 0) {
          const detail = `may have mixed case, but should otherwise match: ${sentences.join(",")}`;
          errors.invalid(at("kind"), kind, detail);
        }
      }
    }
    const metadata = ownMember(object, "metadata");
    if (!isJsonObject(metadata)) return;
    const found = new FieldErrors();
    const named = { ...metadata, name: (metadata["name"] as string | undefined) || "fakename" };
    const namespaced = Boolean(metadata["namespace"]);
    validateMetadata(named, { namespaced, nameFormat: "path-segment", customResource: true }, found);
    for (const error of found.all) errors.add({ ...error, field: at(error.field) });
  });
}
