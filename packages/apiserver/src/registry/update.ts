import type { KubernetesObject } from "@kubewright/api";

import { MODIFIED, conflict, invalid, notFound, plainError } from "../api-error.js";
import { type Awaitable, andThen } from "../awaitable.js";
import { FieldErrors } from "../field-errors.js";
import { trackUpdate } from "../fields/field-tracking.js";
import { type JsonObject, dropMember, jsonEqual, restoreMember } from "../json.js";
import { validateMetadataContent, validateMetadataUpdate } from "../metadata-validation.js";
import { subresourceOf } from "../route.js";
import { errorSubject } from "../served-resource.js";
import { StoredObject } from "../storage/stored-object.js";
import { presentObject, toStorable } from "../stored-versions.js";
import type { UpdateStrategy } from "../strategy.js";
import { createObject } from "./create.js";
import { admitToNamespace } from "./namespace-lifecycle.js";
import type { WriteOptions } from "./options.js";
import type { WriteOutcome } from "./outcome.js";
import { dropDuplicateOwners } from "./owner-references.js";
import { rememberValidatedTemplate } from "./remember-validated-template.js";
import { type Write, warn } from "./write.js";

/** Maximum number of attempts: the stored object may change while an attempt waits, and the update is then retried. */
const ATTEMPTS = 5;

/** The object before an update. Shared: do not change it. */
export interface CurrentObject {
  readonly stored: StoredObject;
  /** The object in the version of the resource. */
  readonly object: KubernetesObject;
}

/** The object after an update. The caller must not use it afterwards. */
export interface UpdatedObject {
  /** Includes defaults. */
  readonly object: KubernetesObject;
  /** Whether its managedFields are already correct. Default false. */
  readonly tracked?: boolean;
  /** Whether a missing object is created. Default: the strategy decides, for the main resource only. */
  readonly createIfMissing?: boolean;
}

/**
 * Computes the updated object from the current one. Called again when the stored object changed during an asynchronous
 * step.
 */
type ComputeUpdate = (before: CurrentObject | undefined) => Awaitable<UpdatedObject>;

/** One attempt at an update, with the stored object at its start. */
interface Attempt {
  readonly number: number;
  readonly write: Write;
  readonly options: WriteOptions;
  readonly computeUpdate: ComputeUpdate;
  readonly stored: StoredObject;
  /** The stored object in the version of the resource. */
  current: KubernetesObject;
  /** The updated object. */
  object: KubernetesObject;
}

/**
 * Stores the next version of the object, or removes the object when its last finalizer was removed.
 *
 * @throws ApiError 400, 403, 404, 409, 422
 * @see kubernetes `registry.Store.Update`, `rest.UpdatedObjectInfo`, `rest.BeforeUpdate`
 */
export function updateObject(
  write: Write,
  options: WriteOptions,
  computeUpdate: ComputeUpdate,
  number = 1,
): Awaitable<WriteOutcome> {
  const { resource, namespace, name } = write.target;
  const stored = resource.storage.get(namespace, name);
  write.newBytes = 0;
  if (stored === undefined)
    return andThen(computeUpdate(undefined), (updated) => createMissing(write, updated, options));
  const { object } = stored;
  const attempt = { number, write, options, computeUpdate, stored, current: object, object };
  return proceedIfCurrent(attempt, presentObject(resource, stored), compute);
}

function compute(attempt: Attempt, current: KubernetesObject): Awaitable<WriteOutcome> {
  attempt.current = current;
  return proceedIfCurrent(attempt, attempt.computeUpdate({ stored: attempt.stored, object: current }), prepare);
}

function prepare(attempt: Attempt, { object, tracked }: UpdatedObject): Awaitable<WriteOutcome> {
  const { write, options, current } = attempt;
  restoreSystemFields(object.metadata, current.metadata);
  const warning = dropDuplicateOwners(object.metadata, write.verb === "patch");
  if (warning !== undefined) warn(write, [warning]);
  shareUnchanged(object, current);
  attempt.object = object;
  return proceedIfCurrent(attempt, tracked === true ? undefined : trackUpdate(write, current, object, options), admit);
}

function admit(attempt: Attempt): Awaitable<WriteOutcome> {
  const { write, options, current, object } = attempt;
  return proceedIfCurrent(attempt, write.server.admission.mutate(write, options, object, current), validate);
}

function validate(attempt: Attempt, object: KubernetesObject): Awaitable<WriteOutcome> {
  const { write, options, stored, current } = attempt;
  const { server, target } = write;
  checkResourceVersion(write, object, stored);
  const errors = new FieldErrors(undefined, server.allowsPrivileged);
  prepareUpdate(write, object, current, errors);
  if (!errors.isEmpty) throw invalid(errorSubject(target.resource), target.name, errors);
  attempt.object = object;
  return proceedIfCurrent(attempt, server.admission.validate(write, options, object, current), convertToStored);
}

function convertToStored(attempt: Attempt): Awaitable<WriteOutcome> {
  const { write, object } = attempt;
  return proceedIfCurrent(attempt, toStorable(write.target.resource, object), store);
}

function store({ write, options, stored, object }: Attempt, next: KubernetesObject): WriteOutcome {
  return storeUpdate(write, stored, { object, next }, options.dryRun);
}

/**
 * Calls `proceed` immediately or when the promise resolves. After a promise, restarts the update if the stored object
 * changed meanwhile.
 */
function proceedIfCurrent<T>(
  attempt: Attempt,
  pending: Awaitable<T>,
  proceed: (attempt: Attempt, answer: T) => Awaitable<WriteOutcome>,
): Awaitable<WriteOutcome> {
  return pending instanceof Promise ? proceedWhenResolved(attempt, pending, proceed) : proceed(attempt, pending);
}

async function proceedWhenResolved<T>(
  attempt: Attempt,
  pending: Promise<T>,
  proceed: (attempt: Attempt, answer: T) => Awaitable<WriteOutcome>,
): Promise<WriteOutcome> {
  const answer = await pending;
  const { number, write, options, computeUpdate, stored } = attempt;
  const { resource, namespace, name } = write.target;
  if (resource.storage.get(namespace, name) === stored) return proceed(attempt, answer);
  if (number === ATTEMPTS) throw conflict(resource, name, MODIFIED);
  return updateObject(write, options, computeUpdate, number + 1);
}

/** @throws ApiError 404 when the update may not create an object. */
function createMissing(
  write: Write,
  { object, tracked, createIfMissing }: UpdatedObject,
  options: WriteOptions,
): Awaitable<WriteOutcome> {
  const { resource, name, subresource } = write.target;
  if (!(createIfMissing ?? (resource.strategy.allowCreateOnUpdate === true && subresource === "")))
    throw missingObjectError(write);
  const { uid } = object.metadata;
  if (uid) throw uidConflict(write, uid, "");
  object.metadata.name = name;
  delete object.metadata.resourceVersion;
  return createObject(write, object, options, tracked);
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

/** Applies the endpoint's strategy and collects validation errors. */
function prepareUpdate(write: Write, object: KubernetesObject, current: KubernetesObject, errors: FieldErrors): void {
  const { resource } = write.target;
  const strategy: Partial<UpdateStrategy> = subresourceOf(write.target)?.strategy ?? resource.strategy;
  strategy.prepareForUpdate?.(object, current);
  if (strategy.bumpsGeneration?.(object, current) === true)
    object.metadata.generation = (current.metadata.generation ?? 0) + 1;
  validateMetadataContent(object.metadata, current.metadata, resource, errors);
  validateMetadataUpdate(object.metadata, current.metadata, errors);
  // Upstream's kinds validate the metadata a second time, and report each error twice.
  if (!errors.isEmpty) validateMetadataUpdate(object.metadata, current.metadata, errors);
  strategy.validateUpdate?.(object, current, errors);
  warn(write, strategy.warningsOnUpdate?.(object, current) ?? []);
  warn(write, errors.warnings);
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
