import { type CustomResourceDefinition, isConditionTrue } from "@kubewright/api";
import { dns1035LabelErrors, dnsSubdomainErrors } from "@kubewright/api/validation";

import type { DefinitionVersion } from "../../custom-resources/definition.js";
import { RuleCompiler } from "../../custom-resources/expression-rules.js";
import type { StructuralSchema } from "../../custom-resources/structural-schema.js";
import type { FieldErrors } from "../../field-errors.js";
import { jsonEqual } from "../../json.js";
import { FIELD_IS_IMMUTABLE, addInvalid, validateChoice } from "../../validation/rules.js";
import { type WebhookClientConfig, validateClientConfig } from "../../validation/webhook-client-config.js";
import { internalForm } from "../internal-form.js";
import { type SchemaValidationContext, createSchemaValidationContext, validateSchema } from "./schema-validation.js";

type Version = CustomResourceDefinition["spec"]["versions"][number];

const SCOPES = ["Cluster", "Namespaced"];
const COLUMN_TYPES = ["boolean", "date", "integer", "number", "string"];
const COLUMN_FORMATS = ["byte", "date", "date-time", "double", "float", "int32", "int64", "password"];
const APPROVAL = "api-approved.kubernetes.io";
const APPROVAL_HINT = "see https://github.com/kubernetes/enhancements/pull/1111";
const MAX_SELECTABLE_FIELDS = 8;
const MAX_WARNING_LENGTH = 256;

/** Upstream: `ValidateCustomResourceDefinition` in apiextensions-apiserver. */
export function validateDefinition(definition: CustomResourceDefinition, errors: FieldErrors): void {
  const { metadata, spec } = definition;
  if (metadata.name !== `${spec.names.plural}.${spec.group}`) {
    errors.invalid("metadata.name", metadata.name, 'must be spec.names.plural+"."+spec.group');
  }
  validateSpec(definition, errors);
  validateStoredVersions(definition, errors);
  validateApproval(definition, errors);
}

/** Validates the approval annotation of protected groups. Upstream: `validateAPIApproval`. */
function validateApproval({ metadata, spec }: CustomResourceDefinition, errors: FieldErrors): void {
  if (!/(^|\.)(k8s|kubernetes)\.io$/.test(spec.group ?? "")) return;
  const field = `metadata.annotations[${APPROVAL}]`;
  const approval = metadata.annotations?.[APPROVAL] ?? "";
  if (approval === "")
    errors.required(field, `protected groups must have approval annotation "${APPROVAL}", ${APPROVAL_HINT}`);
  else if (!approval.startsWith("unapproved") && !/^[a-z][a-z0-9+.-]*:\/\/[^/]+/i.test(approval)) {
    const detail = `protected groups must have approval annotation "${APPROVAL}" with either a URL or a reason starting with "unapproved", ${APPROVAL_HINT}`;
    errors.invalid(field, approval, detail);
  }
}

/** Validates what every write must satisfy. The name is validated only on create. */
function validateSpec(
  definition: CustomResourceDefinition,
  errors: FieldErrors,
  stored?: CustomResourceDefinition,
): void {
  const { spec } = definition;
  if (!spec.group) errors.required("spec.group");
  else {
    const sentences = dnsSubdomainErrors(spec.group);
    if (sentences.length > 0) errors.invalid("spec.group", spec.group, sentences.join(","));
    else if (!spec.group.includes("."))
      errors.invalid("spec.group", spec.group, "should be a domain with at least one dot");
  }
  validateChoice(spec.scope, SCOPES, "spec.scope", errors);
  validateVersions(spec.versions, errors);
  validateNames(spec.names, errors);
  if (spec.preserveUnknownFields === true) {
    const detail =
      "cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead";
    errors.invalid("spec.preserveUnknownFields", true, detail);
  }
  validateContents(spec.versions ?? [], errors, stored);
  validateConversion(spec.conversion, errors);
}

/** Upstream: `ValidateCustomResourceDefinitionUpdate`. */
export function validateDefinitionUpdate(
  definition: CustomResourceDefinition,
  stored: CustomResourceDefinition,
  errors: FieldErrors,
): void {
  validateSpec(definition, errors, stored);
  validateRemovedVersions(definition, errors);
  const { spec } = definition;
  const isEstablished = isConditionTrue(stored.status?.conditions, "Established");
  if (spec.group !== stored.spec.group) errors.invalid("spec.group", spec.group, FIELD_IS_IMMUTABLE);
  if (isEstablished && spec.scope !== stored.spec.scope) errors.invalid("spec.scope", spec.scope, FIELD_IS_IMMUTABLE);
  if (spec.names.plural !== stored.spec.names.plural)
    errors.invalid("spec.names.plural", spec.names.plural, FIELD_IS_IMMUTABLE);
  if (isEstablished && spec.names.kind !== stored.spec.names.kind)
    errors.invalid("spec.names.kind", spec.names.kind, FIELD_IS_IMMUTABLE);
}

function validateVersions(given: readonly Version[] | undefined, errors: FieldErrors): void {
  const versions = given ?? [];
  for (const [index, { name, schema, deprecated, deprecationWarning }] of versions.entries()) {
    const path = `spec.versions[${index}]`;
    addJoined(errors, `${path}.name`, name, dns1035LabelErrors(name));
    if (schema?.openAPIV3Schema === undefined) errors.required(`${path}.schema.openAPIV3Schema`);
    if (deprecationWarning === undefined) continue;
    const invalid = (detail: string): void => errors.invalid(`${path}.deprecationWarning`, deprecationWarning, detail);
    if (deprecated !== true) invalid("can only be set for deprecated versions");
    else if (deprecationWarning === "") invalid("must not be an empty string");
    else if (deprecationWarning.length > MAX_WARNING_LENGTH)
      invalid(`must be <= ${MAX_WARNING_LENGTH} characters long`);
    else {
      const unprintable = deprecationWarning.search(/[^\p{L}\p{M}\p{N}\p{P}\p{S} ]/u);
      if (unprintable >= 0)
        invalid(`must only contain printable UTF-8 characters; non-printable character found at index ${unprintable}`);
    }
  }
  const shown = internalForm("", given);
  if (new Set(versions.map(({ name }) => name)).size < versions.length) {
    errors.invalid("spec.versions", shown, "must contain unique version names");
  }
  if (versions.filter(({ storage }) => storage).length !== 1) {
    errors.invalid("spec.versions", shown, "must have exactly one version marked as storage version");
  }
  // The deprecated `spec.version` equals the name of the first version.
  const first = versions[0]?.name;
  if (first) addJoined(errors, "spec.version", first, dns1035LabelErrors(first));
}

function validateNames(names: CustomResourceDefinition["spec"]["names"], errors: FieldErrors): void {
  const { plural, singular = "", kind, listKind = "", shortNames = [], categories = [] } = names;
  const path = "spec.names";
  for (const [field, name] of Object.entries({ plural, singular })) {
    if (!name) errors.required(`${path}.${field}`);
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
  if (kind && kind === listKind) errors.invalid(`${path}.listKind`, listKind, "kind and listKind may not be the same");
  for (const [index, name] of categories.entries()) {
    addInvalid(errors, `${path}.categories[${index}]`, name, dns1035LabelErrors(name));
  }
}

function addJoined(errors: FieldErrors, field: string, value: string, sentences: readonly string[]): void {
  if (sentences.length > 0) errors.invalid(field, value, sentences.join(","));
}

/**
 * Validates schemas, columns, selectable fields and subresources. What all versions share is reported with the v1beta1
 * path, as in upstream's internal type.
 */
function validateContents(
  versions: readonly Version[],
  errors: FieldErrors,
  stored: CustomResourceDefinition | undefined,
): void {
  const context = createSchemaValidationContext(new RuleCompiler());
  const forEachVersion = (
    part: (version: DefinitionVersion) => unknown,
    validate: (version: DefinitionVersion, path: string) => void,
  ): void => {
    const all = versions as readonly DefinitionVersion[];
    const isShared = all.every((version) => jsonEqual(part(version), part(all[0]!)));
    for (const [index, version] of all.entries())
      if (index === 0 || !isShared) validate(version, isShared ? "" : `spec.versions[${index}]`);
  };
  forEachVersion(
    ({ schema }) => schema,
    (version, path) => validateVersionSchema(version, path, errors, context, stored),
  );
  forEachVersion(
    ({ additionalPrinterColumns }) => additionalPrinterColumns,
    ({ additionalPrinterColumns }, path) =>
      validateColumns(additionalPrinterColumns ?? [], `${path || "spec"}.additionalPrinterColumns`, errors),
  );
  forEachVersion(
    ({ selectableFields, schema }) => [selectableFields, selectableFields === undefined ? undefined : schema],
    (version, path) => validateSelectableFields(version, `${path || "spec"}.selectableFields`, errors),
  );
  forEachVersion(
    ({ subresources }) => subresources,
    ({ subresources }, path) => {
      if (subresources?.scale !== undefined)
        validateScale(subresources.scale, `${path || "spec"}.subresources.scale`, errors);
    },
  );
}

/** Validates the schema of a version. An unchanged schema is not validated again. */
function validateVersionSchema(
  { name, schema }: DefinitionVersion,
  path: string,
  errors: FieldErrors,
  context: SchemaValidationContext,
  stored: CustomResourceDefinition | undefined,
): void {
  const before = stored?.spec.versions.find((version) => version.name === name)?.schema;
  if (before !== undefined && jsonEqual(before, schema)) return;
  const at = path === "" ? "spec.validation" : `${path}.schema`;
  validateSchema(schema?.openAPIV3Schema, `${at}.openAPIV3Schema`, errors, context);
}

function validateColumns(
  columns: NonNullable<DefinitionVersion["additionalPrinterColumns"]>,
  path: string,
  errors: FieldErrors,
): void {
  for (const [index, { name, type, format, jsonPath }] of columns.entries()) {
    const at = `${path}[${index}]`;
    if (!name) errors.required(`${at}.name`);
    if (!type) errors.required(`${at}.type`, `must be one of ${COLUMN_TYPES.join(",")}`);
    else if (!COLUMN_TYPES.includes(type))
      errors.invalid(`${at}.type`, type, `must be one of ${COLUMN_TYPES.join(",")}`);
    if (format && !COLUMN_FORMATS.includes(format))
      errors.invalid(`${at}.format`, format, `must be one of ${COLUMN_FORMATS.join(",")}`);
    validateSimplePath(jsonPath, `${at}.JSONPath`, errors);
  }
}

/** Whether the path is valid. Upstream: `validateSimpleJSONPath`. */
function validateSimplePath(path: string, field: string, errors: FieldErrors): boolean {
  if (!path) errors.required(field);
  else if (!path.startsWith(".")) errors.invalid(field, path, "must be a simple json path starting with .");
  else return true;
  return false;
}

function validateScale(
  {
    specReplicasPath,
    statusReplicasPath,
    labelSelectorPath,
  }: NonNullable<NonNullable<DefinitionVersion["subresources"]>["scale"]>,
  path: string,
  errors: FieldErrors,
): void {
  const validate = (name: string, value: string, parents: readonly string[], detail: string): void => {
    if (!validateSimplePath(value, `${path}.${name}`, errors)) return;
    if (!parents.some((parent) => value.startsWith(`${parent}.`))) errors.invalid(`${path}.${name}`, value, detail);
  };
  validate("specReplicasPath", specReplicasPath, [".spec"], "should be a json path under .spec");
  validate("statusReplicasPath", statusReplicasPath, [".status"], "should be a json path under .status");
  if (labelSelectorPath) {
    const detail = "should be a json path under either .spec or .status";
    validate("labelSelectorPath", labelSelectorPath, [".spec", ".status"], detail);
  }
}

/** Upstream: `ValidateCustomResourceSelectableFields`. */
function validateSelectableFields(
  { selectableFields = [], schema }: DefinitionVersion,
  path: string,
  errors: FieldErrors,
): void {
  if (selectableFields.length > MAX_SELECTABLE_FIELDS) {
    errors.tooMany(path, selectableFields.length, MAX_SELECTABLE_FIELDS);
    return;
  }
  const seen = new Set<string>();
  for (const [index, { jsonPath }] of selectableFields.entries()) {
    const field = `${path}[${index}].jsonPath`;
    if (!jsonPath) {
      errors.required(field);
      continue;
    }
    if (seen.has(jsonPath)) {
      errors.duplicate(field, jsonPath);
      continue;
    }
    seen.add(jsonPath);
    const found = schemaAt(schema?.openAPIV3Schema, jsonPath);
    if (typeof found === "string") errors.invalid(field, jsonPath, `is an invalid path: ${found}`);
    else if (
      !["string", "boolean", "integer"].includes(found.type ?? "") ||
      found["x-kubernetes-int-or-string"] === true
    ) {
      const detail =
        "must point to a field of type string, boolean or integer. Enum string fields and strings with formats are allowed.";
      errors.invalid(field, jsonPath, detail);
    }
  }
}

/** Returns the schema at a path of names, or the reason why the path is invalid. Upstream: `cel.ValidFieldPath`. */
function schemaAt(schema: StructuralSchema | undefined, path: string): StructuralSchema | string {
  let current = schema;
  let rest = path;
  while (rest !== "") {
    if (rest.startsWith("[")) return "array notation is not allowed";
    if (!rest.startsWith(".")) return `expected [ or . but got: ${/^[^.[\]]*/.exec(rest)![0]}`;
    const name = /^\.([^.[\]]*)/.exec(rest)![1]!;
    rest = rest.slice(name.length + 1);
    const properties: StructuralSchema["properties"] = current?.properties;
    if (properties === undefined || !Object.hasOwn(properties, name)) return "does not refer to a valid field";
    current = properties[name];
  }
  return current ?? "does not refer to a valid field";
}

/** Upstream: `validateCustomResourceConversion`. */
function validateConversion(conversion: unknown, errors: FieldErrors): void {
  const { strategy, webhook } = (conversion ?? { strategy: "None" }) as {
    strategy?: string;
    webhook?: { clientConfig?: WebhookClientConfig; conversionReviewVersions?: readonly string[] };
  };
  const path = "spec.conversion";
  if (!strategy) errors.required(`${path}.strategy`);
  else if (strategy !== "None" && strategy !== "Webhook")
    errors.notSupported(`${path}.strategy`, strategy, ["None", "Webhook"]);
  const versions = webhook?.conversionReviewVersions ?? [];
  const [client, reviews] = [`${path}.webhookClientConfig`, `${path}.conversionReviewVersions`];
  if (strategy !== "Webhook") {
    const detail = "should not be set when strategy is not set to Webhook";
    if (webhook?.clientConfig !== undefined) errors.forbidden(client, detail);
    if (versions.length > 0) errors.forbidden(reviews, detail);
    return;
  }
  if (webhook?.clientConfig === undefined) errors.required(client, "required when strategy is set to Webhook");
  else validateClientConfig(swapServiceNames(webhook.clientConfig), client, errors);
  if (versions.length === 0) {
    errors.required(reviews);
    return;
  }
  const seen = new Set<string>();
  for (const [index, version] of versions.entries()) {
    if (seen.has(version)) errors.invalid(`${reviews}[${index}]`, version, "duplicate version");
    seen.add(version);
    addInvalid(errors, `${reviews}[${index}]`, version, dns1035LabelErrors(version));
  }
  if (!seen.has("v1") && !seen.has("v1beta1"))
    errors.invalid(reviews, versions, "must include at least one of v1, v1beta1");
}

/** Swaps name and namespace, because upstream passes them in the wrong order. */
function swapServiceNames(config: WebhookClientConfig): WebhookClientConfig {
  const { service } = config;
  if (service === undefined) return config;
  return { ...config, service: { ...service, name: service.namespace, namespace: service.name } };
}

/** Upstream: `ValidateCustomResourceDefinitionStoredVersions`. */
function validateStoredVersions({ spec, status }: CustomResourceDefinition, errors: FieldErrors): void {
  const field = "status.storedVersions";
  const storedVersions = status?.storedVersions;
  if (storedVersions === undefined || storedVersions.length === 0) {
    errors.invalid(field, storedVersions, "must have at least one stored version");
    return;
  }
  const remaining = new Set(storedVersions);
  for (const { name, storage } of spec.versions ?? []) {
    if (storage && !remaining.has(name)) errors.invalid(field, storedVersions, `must have the storage version ${name}`);
    // Upstream: a second version with the same name is not found again.
    remaining.delete(name);
  }
  validateRemovedVersions({ spec, status } as CustomResourceDefinition, errors);
}

function validateRemovedVersions({ spec, status }: CustomResourceDefinition, errors: FieldErrors): void {
  const names = new Set((spec.versions ?? []).map(({ name }) => name));
  for (const [index, name] of (status?.storedVersions ?? []).entries()) {
    if (names.has(name)) continue;
    errors.invalid(
      `status.storedVersions[${index}]`,
      name,
      `missing from spec.versions; ${name} was previously a storage version, and must remain in spec.versions until a storage migration ensures no data remains persisted in ${name} and removes ${name} from status.storedVersions`,
    );
  }
}
