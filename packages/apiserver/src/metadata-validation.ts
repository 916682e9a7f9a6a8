import {
  FOREGROUND_DELETION_FINALIZER,
  ORPHAN_FINALIZER,
  type KubernetesObject,
  type ObjectMeta,
  type OwnerReference,
} from "@kubewright/api";
import {
  dnsLabelErrors,
  dnsSubdomainErrors,
  labelKeyErrors,
  labelValueErrors,
  pathSegmentErrors,
  qualifiedNameErrors,
} from "@kubewright/api/validation";

import type { FieldErrors } from "./field-errors.js";

/** Required format of a name; a `path-segment` only has to be valid in a URL. */
export type NameFormat = "dns-1123-subdomain" | "dns-1123-label" | "path-segment";

/** The metadata rules that differ between resources. */
export interface MetadataRules {
  readonly namespaced: boolean;
  readonly nameFormat: NameFormat;
  /** Built-in kinds accept only standard and qualified finalizers. */
  readonly customResource: boolean;
}

const NAME_ERRORS: Readonly<Record<NameFormat, (name: string) => readonly string[]>> = {
  "dns-1123-subdomain": dnsSubdomainErrors,
  "dns-1123-label": dnsLabelErrors,
  "path-segment": pathSegmentErrors,
};
const IMMUTABLE = [
  "name",
  "namespace",
  "uid",
  "creationTimestamp",
  "deletionTimestamp",
  "deletionGracePeriodSeconds",
] as const;
/** Matches an apiVersion with no version after the group, which ends at the first slash. */
const VERSIONLESS = /^$|^[^/]*\/(?:\/|$)/;
const CORE_V1 = /^(?:v1$|\/v1(?:\/|$))/;
const MAX_ANNOTATION_BYTES = 262_144;
const STANDARD_FINALIZERS: ReadonlySet<string> = new Set([
  "kubernetes",
  ORPHAN_FINALIZER,
  FOREGROUND_DELETION_FINALIZER,
]);

/** Validates the metadata of an object. Upstream: apimachinery `validation.ValidateObjectMeta`. */
export function validateMetadata(metadata: ObjectMeta, rules: MetadataRules, errors: FieldErrors): void {
  const nameErrors = NAME_ERRORS[rules.nameFormat];
  const { name = "", generateName = "" } = metadata;
  if (generateName !== "") {
    const masked =
      generateName.length > 1 && generateName.endsWith("-") ? `${generateName.slice(0, -1)}a` : generateName;
    for (const message of nameErrors(masked)) errors.invalid("metadata.generateName", generateName, message);
  }
  if (name === "") errors.required("metadata.name", "name or generateName is required");
  else for (const message of nameErrors(name)) errors.invalid("metadata.name", name, message);
  if (rules.namespaced) {
    if (!metadata.namespace) errors.required("metadata.namespace");
    else
      for (const message of dnsLabelErrors(metadata.namespace))
        errors.invalid("metadata.namespace", metadata.namespace, message);
  } else if (metadata.namespace) errors.forbidden("metadata.namespace", "not allowed on this type");
  validateCommon(metadata, errors);
  validateFinalizers(metadata.finalizers, rules, errors);
}

/** Validates rules that are the same for creates and updates. */
function validateCommon(metadata: ObjectMeta, errors: FieldErrors, stored?: ObjectMeta): void {
  if (metadata.generation !== undefined && metadata.generation < 0)
    errors.invalid("metadata.generation", metadata.generation, "must be greater than or equal to 0");
  validateMaps(metadata, errors, stored);
}

/** Skips maps and lists that are unchanged from the stored version: they are already validated. */
function validateMaps(
  { labels, annotations, ownerReferences }: ObjectMeta,
  errors: FieldErrors,
  stored?: ObjectMeta,
): void {
  if (labels !== undefined && labels !== stored?.labels) validateLabels(labels, "metadata.labels", errors);
  if (annotations !== undefined && annotations !== stored?.annotations)
    validateAnnotations(annotations, "metadata.annotations", errors);
  if (ownerReferences !== undefined && ownerReferences !== stored?.ownerReferences)
    validateOwnerReferences(ownerReferences, errors);
}

export function validateLabels(labels: Readonly<Record<string, string>>, field: string, errors: FieldErrors): void {
  for (const key in labels) {
    const value = labels[key]!;
    for (const message of labelKeyErrors(key)) errors.invalid(field, key, message);
    for (const message of labelValueErrors(value)) errors.invalid(field, value, message);
  }
}

export function validateAnnotations(
  annotations: Readonly<Record<string, string>>,
  field: string,
  errors: FieldErrors,
): void {
  let bytes = 0;
  for (const key in annotations) {
    const value = annotations[key]!;
    for (const message of qualifiedNameErrors(key.toLowerCase())) errors.invalid(field, key, message);
    bytes += utf8Length(key) + utf8Length(value);
  }
  if (bytes > MAX_ANNOTATION_BYTES) errors.tooLong(field, MAX_ANNOTATION_BYTES);
}

function validateOwnerReferences(references: readonly OwnerReference[], errors: FieldErrors): void {
  const field = "metadata.ownerReferences";
  let first: OwnerReference | undefined;
  let second: OwnerReference | undefined;
  for (const reference of references) {
    const { apiVersion, kind, name, uid } = reference;
    if (VERSIONLESS.test(apiVersion)) errors.invalid(`${field}.apiVersion`, apiVersion, "version must not be empty");
    if (!kind) errors.invalid(`${field}.kind`, kind, "must not be empty");
    if (!name) errors.invalid(`${field}.name`, name, "must not be empty");
    if (!uid) errors.invalid(`${field}.uid`, uid, "must not be empty");
    if (kind === "Event" && CORE_V1.test(apiVersion))
      errors.invalid(field, reference, "/v1, Kind=Event is disallowed from being an owner");
    if (reference.controller !== true) continue;
    if (first === undefined) first = reference;
    else second ??= reference;
  }
  if (first !== undefined && second !== undefined) {
    errors.invalid(
      field,
      references,
      `Only one reference can have Controller set to true. Found "true" in references for ${first.kind}/${first.name} and ${second.kind}/${second.name}`,
    );
  }
}

function validateFinalizers(
  finalizers: readonly string[] | undefined,
  rules: MetadataRules,
  errors: FieldErrors,
): void {
  if (finalizers === undefined) return;
  for (const finalizer of finalizers)
    for (const message of qualifiedNameErrors(finalizer)) errors.invalid("metadata.finalizers", finalizer, message);
  finalizers.forEach((finalizer, index) => {
    if (rules.customResource || finalizer.includes("/") || STANDARD_FINALIZERS.has(finalizer)) return;
    errors.invalid(
      `metadata.finalizers[${index}]`,
      finalizer,
      "name is neither a standard finalizer name nor is it fully qualified",
    );
  });
  if (finalizers.includes(ORPHAN_FINALIZER) && finalizers.includes(FOREGROUND_DELETION_FINALIZER)) {
    errors.invalid("metadata.finalizers", finalizers, "finalizer orphan and foregroundDeletion cannot be both set");
  }
}

/**
 * Validates the changes of an update. Call it after {@link validateMetadataContent}.
 *
 * Upstream: `validation.ValidateObjectMetaUpdate`.
 */
export function validateMetadataUpdate(
  metadata: ObjectMeta,
  stored: KubernetesObject["metadata"],
  errors: FieldErrors,
): void {
  if (stored.deletionTimestamp) {
    const added = (metadata.finalizers ?? [])
      .filter((finalizer) => !(stored.finalizers ?? []).includes(finalizer))
      .sort();
    if (added.length > 0) {
      const list = added.map((finalizer) => JSON.stringify(finalizer)).join(", ");
      errors.forbidden(
        "metadata.finalizers",
        `no new finalizers can be added if the object is being deleted, found new finalizers []string{${list}}`,
      );
    }
  }
  if ((metadata.generation ?? 0) < (stored.generation ?? 0))
    errors.invalid("metadata.generation", metadata.generation ?? 0, "must not be decremented");
  if (!hasSameImmutables(metadata, stored))
    for (const member of IMMUTABLE)
      if (metadata[member] !== stored[member])
        errors.invalid(`metadata.${member}`, metadata[member] ?? null, "field is immutable");
  // Upstream reports the errors of {@link validateMetadataContent} twice.
  if (!errors.isEmpty) validateMaps(metadata, errors, stored);
}

/** Compares all members of {@link IMMUTABLE}: access by constant name is several times as fast as by key. */
function hasSameImmutables(metadata: ObjectMeta, stored: ObjectMeta): boolean {
  return (
    metadata.name === stored.name &&
    metadata.namespace === stored.namespace &&
    metadata.uid === stored.uid &&
    metadata.creationTimestamp === stored.creationTimestamp &&
    metadata.deletionTimestamp === stored.deletionTimestamp &&
    metadata.deletionGracePeriodSeconds === stored.deletionGracePeriodSeconds
  );
}

/**
 * Validates the content of updated metadata, as opposed to changes. Upstream checks it a second time in the kinds' own
 * rules.
 */
export function validateMetadataContent(
  metadata: ObjectMeta,
  stored: ObjectMeta,
  rules: MetadataRules,
  errors: FieldErrors,
): void {
  if (metadata.name !== stored.name)
    for (const message of pathSegmentErrors(metadata.name ?? ""))
      errors.invalid("metadata.name", metadata.name, message);
  validateCommon(metadata, errors, stored);
  if (metadata.finalizers !== stored.finalizers) validateFinalizers(metadata.finalizers, rules, errors);
}

function utf8Length(text: string): number {
  let bytes = text.length;
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    // A surrogate pair has two units and four bytes: one more per unit.
    if (code >= 0xd800 && code < 0xe000) bytes += 1;
    else if (code >= 0x800) bytes += 2;
    else if (code >= 0x80) bytes += 1;
  }
  return bytes;
}
