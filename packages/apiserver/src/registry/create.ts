import { type KubernetesObject, formatTime } from "@kubewright/api";
import { uuid } from "@kubewright/clock";

import { alreadyExists, forbidden, invalid, plainError } from "../api-error.js";
import { FieldErrors } from "../field-errors.js";
import { dropMember } from "../json.js";
import { validateMetadata } from "../metadata-validation.js";
import { errorSubject } from "../served-resource.js";
import { StoredObject } from "../storage/stored-object.js";
import { generateName } from "./generated-name.js";
import { admitToNamespace } from "./namespace-lifecycle.js";
import type { WriteOutcome } from "./outcome.js";
import { dropDuplicateOwners } from "./owner-references.js";
import type { PendingWrite } from "./pending-write.js";
import { rememberValidatedTemplate } from "./remember-validated-template.js";
import { missingObjectError, uidConflict } from "./update.js";
import { type Write, warn } from "./write.js";

const NAME_ATTEMPTS = 8;

/**
 * Sets the metadata of a new object that only the server may set.
 *
 * @throws ApiError 403; 404 when an update or patch may not create the object.
 */
export function prepareNew(pending: PendingWrite): void {
  const { write, object } = pending;
  const { metadata } = object;
  pending.nowMs = write.server.clock.now();
  if (write.verb !== "create") requireCreatable(pending);
  dropMember(metadata, "uid");
  // Some clients send a timestamp. It is overwritten, not deleted first, because deleting members makes an object
  // permanently slow.
  metadata.creationTimestamp = formatTime(pending.nowMs);
  dropMember(metadata, "deletionTimestamp");
  dropMember(metadata, "deletionGracePeriodSeconds");
  dropMember(metadata, "selfLink");
  const warning = dropDuplicateOwners(metadata, false);
  if (warning !== undefined) warn(write, [warning]);
}

/** Permits an update or patch to create the object. Authorization so far allowed only the update or patch. */
function requireCreatable({ write, request, object: { metadata } }: PendingWrite): void {
  const { server, user, target } = write;
  const { resource, namespace, name, subresource } = target;
  if (!(request.createsMissing ?? (resource.strategy.allowCreateOnUpdate === true && subresource === "")))
    throw missingObjectError(write);
  if (metadata.uid) throw uidConflict(write, metadata.uid, "");
  delete metadata.resourceVersion;
  const { group, version } = resource;
  const asked = { group, version, resource: resource.resource, subresource, namespace, name };
  server.access.requireAllowed({ user, verb: "create", path: "", resource: asked });
}

/** @throws ApiError 403 while the namespace is being deleted or the kind may not be created, 404 without namespace */
export function admitNew(write: Write, { metadata: { name = "" } }: KubernetesObject): void {
  const { resource } = write.target;
  admitToNamespace(write, name);
  const refusal = resource.custom?.createRefusal();
  if (refusal !== undefined) throw forbidden(resource, name, refusal);
}

/** Names, completes and validates a new object. */
export function completeNew(pending: PendingWrite): void {
  const { write, object, nowMs } = pending;
  const { server, target } = write;
  const { resource } = target;
  const { metadata } = object;
  metadata.uid = uuid(server.random);
  const prefix = metadata.name ? "" : (metadata.generateName ?? "");
  pending.hasFreeName = prefix === "" || generateFreeName(write, metadata, prefix);
  resource.strategy.prepareForCreate?.(object, { nowMs, nameGenerated: prefix !== "" });
  const errors = new FieldErrors(server.schemas.ofType("PodSpec").validatedValues, server.allowsPrivileged);
  validateMetadata(metadata, resource, errors);
  resource.strategy.validate?.(object, errors);
  resource.strategy.validateCreate?.(object, errors);
  if (!errors.isEmpty) throw invalid(errorSubject(resource), metadata.name ?? "", errors);
  warn(write, resource.strategy.warningsOnCreate?.(object) ?? []);
}

/** @throws ApiError 409 when all generated names were taken */
export function requireFreeName({ write, object, hasFreeName }: PendingWrite): void {
  const why = ", the server was not able to generate a unique name for the object";
  if (!hasFreeName) throw alreadyExists(write.target.resource, object.metadata.name ?? "", "", why, 1);
}

/** @throws ApiError 409 */
export function storeNew({ write, options, complete, object: next, hasUnstoredDefaults }: PendingWrite): WriteOutcome {
  const { resource } = write.target;
  const { metadata } = complete;
  const existing = resource.storage.get(metadata.namespace ?? "", metadata.name ?? "");
  if (existing !== undefined) {
    throw alreadyExists(
      resource,
      existing.name,
      existing.object.metadata.deletionTimestamp ? "object is being deleted: " : "",
    );
  }
  if (metadata.resourceVersion && metadata.resourceVersion !== "0")
    throw plainError("resourceVersion should not be set on objects to be created");
  if (options.dryRun) {
    dropMember(next.metadata, "resourceVersion");
    return { object: resource.view === undefined ? complete : StoredObject.forDryRun(next), created: true };
  }
  const stored = resource.storage.write(next, write.newBytes, hasUnstoredDefaults);
  rememberValidatedTemplate(write, complete);
  return { object: stored, created: true };
}

/** Generates names until one is free. Returns false when all attempts failed. */
function generateFreeName({ server, target }: Write, metadata: KubernetesObject["metadata"], prefix: string): boolean {
  const { storage } = target.resource;
  for (let attempt = 0; attempt < NAME_ATTEMPTS; attempt++) {
    metadata.name = generateName(prefix, server.random);
    if (storage.get(metadata.namespace ?? "", metadata.name) === undefined) return true;
  }
  return false;
}
