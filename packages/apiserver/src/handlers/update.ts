import type { KubernetesObject } from "@kubewright/api";

import { type ApiCall, warn } from "../api-call.js";
import { MODIFIED, badRequest, conflict, invalid, notFound, plainError } from "../api-error.js";
import { admitGrant } from "../authorization/escalation.js";
import { FieldErrors } from "../field-errors.js";
import { trackUpdate } from "../fields/field-tracking.js";
import { type JsonObject, dropMember, jsonEqual, restoreMember } from "../json.js";
import { validateMetadataAgain, validateMetadataUpdate } from "../metadata-validation.js";
import { dropDuplicateOwners } from "../owner-references.js";
import type { Reply } from "../reply.js";
import { subresourceOf } from "../route.js";
import { errorSubject, present } from "../served-resource.js";
import type { StoredObject } from "../storage/stored-object.js";
import type { UpdateStrategy } from "../strategy.js";
import { type WriteOptions, readWriteOptions } from "../write-options.js";
import { admitToNamespace, createObject, setRequestNamespace, settleTemplate, uidConflict } from "./create.js";
import { decodeRequestObject } from "./decode-object.js";
import { objectReply } from "./object-reply.js";

/** PUT of an object or its status. Upstream: `handlers.UpdateResource`, `registry.Store.Update`. */
export function update(call: ApiCall): Reply {
  const { resource, namespace, name, subresource } = call.target;
  const options = readWriteOptions(call, "UpdateOptions");
  const stored = resource.storage.get(namespace, name);
  // Another API's view of the object is made anew for every request: it has nothing that a client could send back.
  const current = resource.view === undefined ? stored?.object : undefined;
  const object = decodeRequestObject(call, options, current);
  checkName(call, object);
  setRequestNamespace(call, object);
  const { uid } = object.metadata;
  if (stored === undefined) {
    if (resource.strategy.allowCreateOnUpdate !== true || subresource !== "") {
      admitToNamespace(call, name);
      throw notFound(resource, name);
    }
    if (uid) throw uidConflict(call, name, uid, "");
    delete object.metadata.resourceVersion;
    return createObject(call, object, options);
  }
  if (uid && uid !== stored.object.metadata.uid) throw uidConflict(call, name, uid, stored.object.metadata.uid ?? "");
  return commitUpdate(call, stored, object, options);
}

/** @throws ApiError 400 when the object has another name than the path. */
export function checkName(call: ApiCall, object: KubernetesObject): void {
  const { name } = call.target;
  if (!object.metadata.name)
    throw badRequest(`the name of the object (${name} based on URL) was undeterminable: name must be provided`);
  if (object.metadata.name !== name)
    throw badRequest(
      `the name of the object (${object.metadata.name ?? ""}) does not match the name on the URL (${name})`,
    );
}

/** Turns a wanted state into the next version of the object, or removes it when that was its last finalizer. Takes the object over. */
export function commitUpdate(
  call: ApiCall,
  stored: StoredObject,
  object: KubernetesObject,
  options: WriteOptions,
  tracked = false,
): Reply {
  const { resource, name } = call.target;
  const current = present(resource, stored);
  admitGrant(call, object, current);
  checkResourceVersion(call, object, stored);
  const { metadata } = object;
  restoreSystemFields(metadata, current.metadata);
  const warning = dropDuplicateOwners(metadata, call.verb === "patch");
  if (warning !== undefined) warn(call, [warning]);
  shareUnchanged(object, current);
  if (!tracked) trackUpdate(call, current, object, options);

  const errors = new FieldErrors();
  prepareUpdate(call, object, current, errors);
  if (!errors.isEmpty) throw invalid(errorSubject(resource), name, errors);
  return storeUpdate(call, stored, object, options.dryRun);
}

/**
 * Puts the current version's own members in place of those that are equal to them. All that compares the two versions
 * afterwards is done with them at once, and both versions are kept for the price of one.
 */
function shareUnchanged(object: KubernetesObject, current: KubernetesObject): void {
  const next = object as unknown as JsonObject;
  const before = current as unknown as JsonObject;
  for (const key of Object.keys(next))
    if (key !== "metadata" && jsonEqual(next[key], before[key])) next[key] = before[key];
}

/** Applies the strategy of the endpoint and gathers what is wrong with the result. */
function prepareUpdate(call: ApiCall, object: KubernetesObject, current: KubernetesObject, errors: FieldErrors): void {
  const { resource } = call.target;
  const strategy: Partial<UpdateStrategy> = subresourceOf(call.target)?.strategy ?? resource.strategy;
  strategy.prepareForUpdate?.(object, current);
  if (strategy.bumpsGeneration?.(object, current) === true)
    object.metadata.generation = (current.metadata.generation ?? 0) + 1;
  validateMetadataAgain(object.metadata, current.metadata, resource, errors);
  validateMetadataUpdate(object.metadata, current.metadata, errors);
  // The kinds' own rules look at the metadata once more, and every finding is reported as often as it is made.
  if (!errors.isEmpty) validateMetadataUpdate(object.metadata, current.metadata, errors);
  strategy.validateUpdate?.(object, current, errors);
  warn(call, strategy.warningsOnUpdate?.(object, current) ?? []);
}

/** Writes the new version, unless it is the same as the stored one, or the last thing that kept a deleted object is gone. */
export function storeUpdate(call: ApiCall, stored: StoredObject, object: KubernetesObject, dryRun: boolean): Reply {
  const { resource } = call.target;
  const next = resource.view === undefined ? object : resource.view.toStored(object);
  next.metadata.resourceVersion = stored.object.metadata.resourceVersion!;
  if (isDone(call, next)) {
    if (!dryRun) resource.storage.remove(stored);
    return objectReply(call, 200, object);
  }
  if (!stored.hasUnstoredDefaults && isSame(next, stored.object)) return objectReply(call, 200, stored);
  if (dryRun) return objectReply(call, 200, object);
  const written = resource.storage.write(next, call.newBytes);
  if (specOf(next) !== specOf(stored.object)) settleTemplate(call, next);
  return objectReply(call, 200, written);
}

/** What mostly changes is looked at before the metadata. */
function isSame(next: KubernetesObject, stored: KubernetesObject): boolean {
  const after = next as unknown as JsonObject;
  const before = stored as unknown as JsonObject;
  for (const key in after) if (key !== "metadata" && !jsonEqual(after[key], before[key])) return false;
  return jsonEqual(next, stored);
}

function specOf(object: KubernetesObject): unknown {
  return (object as { spec?: unknown }).spec;
}

/** A deleted object that nothing holds any longer. */
function isDone(call: ApiCall, object: KubernetesObject): boolean {
  const { metadata } = object;
  if (
    !metadata.deletionTimestamp ||
    (metadata.finalizers !== undefined && metadata.finalizers.length > 0) ||
    metadata.deletionGracePeriodSeconds
  )
    return false;
  return call.target.resource.strategy.isHeld?.(object) !== true;
}

function checkResourceVersion(call: ApiCall, object: KubernetesObject, stored: StoredObject): void {
  const { resource, name } = call.target;
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

/** What the server owns stays as it is stored, whatever was sent. */
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
