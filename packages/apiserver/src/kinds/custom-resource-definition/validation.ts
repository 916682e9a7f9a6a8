import type { CustomResourceDefinition } from "@kubewright/api";

import { PatternChecker } from "../../custom-resources/patterns.js";
import type { FieldErrors } from "../../field-errors.js";
import { jsonEqual } from "../../json.js";
import { dnsSubdomainErrors } from "../../names.js";
import { dns1035LabelErrors } from "../../validation/formats.js";
import { addInvalid } from "../../validation/rules.js";
import { internalForm } from "../internal-form.js";
import { validateSchema } from "./schema-validation.js";

type Version = CustomResourceDefinition["spec"]["versions"][number];

const SCOPES = ["Cluster", "Namespaced"];
const COLUMN_TYPES = ["boolean", "date", "integer", "number", "string"];

/** Upstream: `ValidateCustomResourceDefinition` in apiextensions-apiserver. */
export function validateDefinition(definition: CustomResourceDefinition, errors: FieldErrors): void {
  const { metadata, spec } = definition;
  if (metadata.name !== `${spec.names.plural}.${spec.group}`) {
    errors.invalid("metadata.name", metadata.name, 'must be spec.names.plural+"."+spec.group');
  }
  validateSpec(definition, errors);
}

/** The rules that hold for every write; the name is checked at creation only. */
function validateSpec(definition: CustomResourceDefinition, errors: FieldErrors): void {
  const { spec } = definition;
  if (!spec.group) errors.required("spec.group");
  else {
    const sentences = dnsSubdomainErrors(spec.group);
    if (sentences.length > 0) errors.invalid("spec.group", spec.group, sentences.join(","));
    else if (!spec.group.includes("."))
      errors.invalid("spec.group", spec.group, "should be a domain with at least one dot");
  }
  if (!spec.scope) errors.required("spec.scope");
  else if (!SCOPES.includes(spec.scope)) errors.notSupported("spec.scope", spec.scope, SCOPES);
  validateVersions(spec.versions ?? [], errors);
  validateNames(spec.names, errors);
  if (spec.preserveUnknownFields === true) {
    const detail =
      "cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead";
    errors.invalid("spec.preserveUnknownFields", true, detail);
  }
  validateContents(spec.versions ?? [], errors);
  validateStoredVersions(definition, errors);
}

/** Upstream: `ValidateCustomResourceDefinitionUpdate`. */
export function validateDefinitionUpdate(
  definition: CustomResourceDefinition,
  stored: CustomResourceDefinition,
  errors: FieldErrors,
): void {
  validateSpec(definition, errors);
  const immutable = "field is immutable";
  const { spec } = definition;
  const isEstablished = stored.status?.conditions?.some(
    ({ type, status }) => type === "Established" && status === "True",
  );
  if (spec.group !== stored.spec.group) errors.invalid("spec.group", spec.group, immutable);
  if (isEstablished && spec.scope !== stored.spec.scope) errors.invalid("spec.scope", spec.scope, immutable);
  if (spec.names.plural !== stored.spec.names.plural) errors.invalid("spec.names.plural", spec.names.plural, immutable);
  if (isEstablished && spec.names.kind !== stored.spec.names.kind)
    errors.invalid("spec.names.kind", spec.names.kind, immutable);
}

function validateVersions(versions: readonly Version[], errors: FieldErrors): void {
  for (const [index, { name, schema }] of versions.entries()) {
    const sentences = dns1035LabelErrors(name);
    if (sentences.length > 0) errors.invalid(`spec.versions[${index}].name`, name, sentences.join(","));
    if (schema?.openAPIV3Schema === undefined) errors.required(`spec.versions[${index}].schema.openAPIV3Schema`);
  }
  const shown = internalForm("", versions);
  if (new Set(versions.map(({ name }) => name)).size < versions.length) {
    errors.invalid("spec.versions", shown, "must contain unique version names");
  }
  if (versions.filter(({ storage }) => storage).length !== 1) {
    errors.invalid("spec.versions", shown, "must have exactly one version marked as storage version");
  }
  // The deprecated name of a single version follows the first one's.
  const first = versions[0]?.name;
  if (first !== undefined) {
    const sentences = dns1035LabelErrors(first);
    if (sentences.length > 0) errors.invalid("spec.version", first, sentences.join(","));
  }
}

function validateNames(names: CustomResourceDefinition["spec"]["names"], errors: FieldErrors): void {
  const { plural, singular = "", kind, listKind = "", shortNames = [], categories = [] } = names;
  const path = "spec.names";
  for (const [field, name] of Object.entries({ plural, singular })) {
    if (!name && field === "plural") errors.required(`${path}.${field}`);
    else addJoined(errors, `${path}.${field}`, name, dns1035LabelErrors(name));
  }
  for (const [field, name] of Object.entries({ kind, listKind })) {
    if (!name) errors.required(`${path}.${field}`);
    else {
      const sentences = dns1035LabelErrors(name.toLowerCase());
      if (sentences.length > 0) {
        errors.invalid(
          `${path}.${field}`,
          name,
          `may have mixed case, but should otherwise match: ${sentences.join(",")}`,
        );
      }
    }
  }
  for (const [index, name] of shortNames.entries()) {
    addJoined(errors, `${path}.shortNames[${index}]`, name, dns1035LabelErrors(name));
  }
  for (const [index, name] of categories.entries()) {
    addInvalid(errors, `${path}.categories[${index}]`, name, dns1035LabelErrors(name));
  }
  if (kind && kind === listKind) errors.invalid(`${path}.listKind`, listKind, "kind and listKind may not be the same");
}

function addJoined(errors: FieldErrors, field: string, value: string, sentences: readonly string[]): void {
  if (sentences.length > 0) errors.invalid(field, value, sentences.join(","));
}

/** What all versions share is reported where v1beta1 had it, as upstream's internal type still does. */
function validateContents(versions: readonly Version[], errors: FieldErrors): void {
  const shared = (part: (version: Version) => unknown): boolean =>
    versions.every((version) => jsonEqual(part(version), part(versions[0]!)));
  const patterns = new PatternChecker();
  const sharesSchema = shared(({ schema }) => schema);
  const sharesColumns = shared(({ additionalPrinterColumns }) => additionalPrinterColumns);
  for (const [index, { schema, additionalPrinterColumns }] of versions.entries()) {
    if (index === 0 || !sharesColumns) {
      const path = sharesColumns ? "spec" : `spec.versions[${index}]`;
      validateColumns(additionalPrinterColumns ?? [], `${path}.additionalPrinterColumns`, errors);
    }
    if (index === 0 || !sharesSchema) {
      const path = sharesSchema ? "spec.validation" : `spec.versions[${index}].schema`;
      validateSchema(schema?.openAPIV3Schema, `${path}.openAPIV3Schema`, errors, patterns);
    }
  }
}

function validateColumns(
  columns: NonNullable<Version["additionalPrinterColumns"]>,
  path: string,
  errors: FieldErrors,
): void {
  for (const [index, { name, type, jsonPath }] of columns.entries()) {
    const at = `${path}[${index}]`;
    if (!name) errors.required(`${at}.name`);
    if (!type) errors.required(`${at}.type`, `must be one of ${COLUMN_TYPES.join(",")}`);
    else if (!COLUMN_TYPES.includes(type))
      errors.invalid(`${at}.type`, type, `must be one of ${COLUMN_TYPES.join(",")}`);
    if (!jsonPath) errors.required(`${at}.JSONPath`);
    else if (!jsonPath.startsWith("."))
      errors.invalid(`${at}.JSONPath`, jsonPath, "must be a simple json path starting with .");
  }
}

/** Upstream: `ValidateCustomResourceDefinitionStoredVersions`. */
function validateStoredVersions({ spec, status }: CustomResourceDefinition, errors: FieldErrors): void {
  const field = "status.storedVersions";
  const storedVersions = status?.storedVersions;
  if (storedVersions === undefined || storedVersions.length === 0) {
    errors.invalid(field, storedVersions, "must have at least one stored version");
    return;
  }
  const remaining = new Map(storedVersions.map((name, index) => [name, index]));
  for (const { name, storage } of spec.versions ?? []) {
    if (storage && !remaining.has(name)) errors.invalid(field, storedVersions, `must have the storage version ${name}`);
    remaining.delete(name);
  }
  for (const [name, index] of remaining) errors.invalid(`${field}[${index}]`, name, "must appear in spec.versions");
}
