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

/** What is stored may change while somebody is waited for; then it is tried again, so often at most. */
const ATTEMPTS = 5;

/** What an object is before an update. Shared: not to be changed. */
export interface CurrentObject {
  readonly stored: StoredObject;
  /** As the resource shows it. */
  readonly object: KubernetesObject;
}

/** What an object is to be. The update takes it over. */
export interface UpdatedObject {
  /** With defaults. */
  readonly object: KubernetesObject;
  /** Its managedFields are as they should be. Default false. */
  readonly tracked?: boolean;
  /** Whether one that is not there is made. Default: as the kind has it, through its main path. */
  readonly createIfMissing?: boolean;
}

/** Makes what is wanted of what is stored; again, when something else was stored while somebody was waited for. */
type ComputeUpdate = (before: CurrentObject | undefined) => Awaitable<UpdatedObject>;

/** One attempt at an update, from what is stored as it begins. */
interface Attempt {
  readonly number: number;
  readonly write: Write;
  readonly options: WriteOptions;
  readonly computeUpdate: ComputeUpdate;
  readonly stored: StoredObject;
  /** What is stored, as the resource shows it. */
  current: KubernetesObject;
  /** What it is to be. */
  object: KubernetesObject;
}

/**
 * Turns what is wanted into the next version of the object, or removes it when that was its last finalizer.
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

/** Goes on at once, or when somebody has answered; then it begins anew where something else is stored by then. */
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

/** @throws ApiError 404 where updates create nothing. */
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

/** That there is no such object, unless its namespace says more. */
export function missingObjectError(write: Write): Error {
  const { resource, name } = write.target;
  admitToNamespace(write, name);
  return notFound(resource, name);
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
function prepareUpdate(write: Write, object: KubernetesObject, current: KubernetesObject, errors: FieldErrors): void {
  const { resource } = write.target;
  const strategy: Partial<UpdateStrategy> = subresourceOf(write.target)?.strategy ?? resource.strategy;
  strategy.prepareForUpdate?.(object, current);
  if (strategy.bumpsGeneration?.(object, current) === true)
    object.metadata.generation = (current.metadata.generation ?? 0) + 1;
  validateMetadataContent(object.metadata, current.metadata, resource, errors);
  validateMetadataUpdate(object.metadata, current.metadata, errors);
  // The kinds' own rules look at the metadata once more, and every finding is reported as often as it is made.
  if (!errors.isEmpty) validateMetadataUpdate(object.metadata, current.metadata, errors);
  strategy.validateUpdate?.(object, current, errors);
  warn(write, strategy.warningsOnUpdate?.(object, current) ?? []);
  warn(write, errors.warnings);
}

/**
 * Writes the new version, unless it is the same as the stored one, or the last thing that kept a deleted object is gone.
 *
 * @param next - The object as it is to be stored.
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

/** A precondition on a UID that is not (or no longer) the object's. */
export function uidConflict({ target }: Write, sent: string, stored: string): Error {
  const { resource, namespace, name } = target;
  const group = resource.custom === undefined || resource.group === "" ? "" : `${resource.group}/`;
  const key = `/registry/${group}${resource.resource}/${resource.namespaced ? `${namespace}/` : ""}${name}`;
  const why = `StorageError: invalid object, Code: 4, Key: ${key}, ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: UID in precondition: ${sent}, UID in object meta: ${stored}`;
  return conflict(resource, name, why);
}
