import type { KubernetesObject } from "@kubewright/api";

import { MODIFIED, conflict, invalid, notFound, plainError } from "../api-error.js";
import { FieldErrors } from "../field-errors.js";
import { type JsonObject, dropMember, jsonEqual, restoreMember } from "../json.js";
import { validateMetadataContent, validateMetadataUpdate } from "../metadata-validation.js";
import { subresourceOf } from "../route.js";
import { errorSubject } from "../served-resource.js";
import { StoredObject } from "../storage/stored-object.js";
import type { ResourceStrategy, UpdateStrategy } from "../strategy.js";
import { admitToNamespace } from "./namespace-lifecycle.js";
import type { WriteOutcome } from "./outcome.js";
import { dropDuplicateOwners } from "./owner-references.js";
import type { PendingWrite } from "./pending-write.js";
import { rememberValidatedTemplate } from "./remember-validated-template.js";
import { type Write, warn } from "./write.js";

/** Restores the parts of an updated object that only the server may set, and shares the unchanged ones. */
export function prepareUpdate({ write, object }: PendingWrite, current: KubernetesObject): void {
  restoreSystemFields(object.metadata, current.metadata);
  const warning = dropDuplicateOwners(object.metadata, write.verb === "patch");
  if (warning !== undefined) warn(write, [warning]);
  shareUnchanged(object, current);
}

/** Applies the endpoint's strategy to an updated object and validates it. */
export function completeUpdate({ write, stored, object }: PendingWrite, current: KubernetesObject): void {
  const { server, target } = write;
  const { resource } = target;
  checkResourceVersion(write, object, stored!);
  const errors = new FieldErrors(undefined, server.allowsPrivileged);
  const strategy: Partial<UpdateStrategy> & Pick<ResourceStrategy, "validate"> =
    subresourceOf(target)?.strategy ?? resource.strategy;
  strategy.prepareForUpdate?.(object, current);
  if (strategy.bumpsGeneration?.(object, current) === true)
    object.metadata.generation = (current.metadata.generation ?? 0) + 1;
  validateMetadataContent(object.metadata, current.metadata, resource, errors);
  validateMetadataUpdate(object.metadata, current.metadata, errors);
  // Upstream's kinds validate the metadata a second time, and report each error twice.
  if (!errors.isEmpty) validateMetadataUpdate(object.metadata, current.metadata, errors);
  strategy.validate?.(object, errors);
  strategy.validateUpdate?.(object, current, errors);
  warn(write, strategy.warningsOnUpdate?.(object, current) ?? []);
  warn(write, errors.warnings);
  if (!errors.isEmpty) throw invalid(errorSubject(resource), target.name, errors);
}

/** Returns the 404 for the object, unless its namespace is missing or terminating. */
export function missingObjectError(write: Write): Error {
  const { resource, name } = write.target;
  admitToNamespace(write, name);
  return notFound(resource, name);
}

/**
 * Replaces members of the object by equal members of the current version. Later comparisons then only compare
 * references, and both versions share memory.
 */
function shareUnchanged(object: KubernetesObject, current: KubernetesObject): void {
  const next = object as unknown as JsonObject;
  const before = current as unknown as JsonObject;
  for (const key of Object.keys(next))
    if (key !== "metadata" && jsonEqual(next[key], before[key])) next[key] = before[key];
}

/**
 * Stores the new version, unless it equals the stored one. Removes a deleted object that nothing keeps any more.
 *
 * @param next - The object to store.
 */
export function storeUpdate(
  write: Write,
  stored: StoredObject,
  { object, next }: { readonly object: KubernetesObject; readonly next: KubernetesObject },
  dryRun: boolean,
): WriteOutcome {
  const { resource } = write.target;
  next.metadata.resourceVersion = stored.object.metadata.resourceVersion!;
  if (isReadyForRemoval(write, next)) {
    if (!dryRun) resource.storage.remove(stored);
    return { object, created: false };
  }
  if (!stored.hasUnstoredDefaults && isSame(next, stored.object)) return { object: stored, created: false };
  if (dryRun) return { object: resource.view === undefined ? object : StoredObject.forDryRun(next), created: false };
  const written = resource.storage.write(next, write.newBytes);
  if (specOf(next) !== specOf(stored.object)) rememberValidatedTemplate(write, next);
  return { object: written, created: false };
}

/** Compares the metadata last: other members change more often. */
function isSame(next: KubernetesObject, stored: KubernetesObject): boolean {
  const after = next as unknown as JsonObject;
  const before = stored as unknown as JsonObject;
  for (const key in after) if (key !== "metadata" && !jsonEqual(after[key], before[key])) return false;
  return jsonEqual(next, stored);
}

function specOf(object: KubernetesObject): unknown {
  return (object as { spec?: unknown }).spec;
}

/** Whether the object is deleted and has no finalizers, grace period or other reason to remain. */
function isReadyForRemoval({ target }: Write, object: KubernetesObject): boolean {
  const { metadata } = object;
  if (
    !metadata.deletionTimestamp ||
    (metadata.finalizers !== undefined && metadata.finalizers.length > 0) ||
    metadata.deletionGracePeriodSeconds
  )
    return false;
  return target.resource.strategy.blocksRemoval?.(object) !== true;
}

function checkResourceVersion({ target }: Write, object: KubernetesObject, stored: StoredObject): void {
  const { resource, name } = target;
  const sent = object.metadata.resourceVersion ?? "";
  if (sent === stored.object.metadata.resourceVersion) return;
  if (sent !== "" && !/^\d+$/.test(sent))
    throw plainError(`strconv.ParseUint: parsing ${JSON.stringify(sent)}: invalid syntax`);
  if (sent === "" || sent === "0") {
    if (resource.strategy.allowUnconditionalUpdate !== false) return;
    const errors = new FieldErrors();
    errors.invalid("metadata.resourceVersion", 0, "must be specified for an update");
    throw invalid({ group: resource.group, kind: resource.resource }, name, errors);
  }
  throw conflict(resource, name, MODIFIED);
}

/** Restores metadata that only the server may set. */
function restoreSystemFields(metadata: KubernetesObject["metadata"], stored: KubernetesObject["metadata"]): void {
  if (!metadata.uid) restoreMember(metadata, stored, "uid");
  restoreMember(metadata, stored, "creationTimestamp");
  restoreMember(metadata, stored, "generation");
  dropMember(metadata, "selfLink");
  if (stored.deletionTimestamp) {
    restoreMember(metadata, stored, "deletionTimestamp");
    if (metadata.deletionGracePeriodSeconds === undefined)
      restoreMember(metadata, stored, "deletionGracePeriodSeconds");
  }
}

/** Returns the 409 for a UID that differs from the object's UID. */
export function uidConflict({ target }: Write, sent: string, stored: string): Error {
  const { resource, namespace, name } = target;
  const group = resource.custom === undefined || resource.group === "" ? "" : `${resource.group}/`;
  const key = `/registry/${group}${resource.resource}/${resource.namespaced ? `${namespace}/` : ""}${name}`;
  const why = `StorageError: invalid object, Code: 4, Key: ${key}, ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: UID in precondition: ${sent}, UID in object meta: ${stored}`;
  return conflict(resource, name, why);
}
