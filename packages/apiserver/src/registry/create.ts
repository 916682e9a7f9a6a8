import { type KubernetesObject, formatTime } from "@kubewright/api";
import { uuid } from "@kubewright/clock";

import { alreadyExists, forbidden, invalid, plainError } from "../api-error.js";
import { type Awaitable, andThen } from "../awaitable.js";
import { FieldErrors } from "../field-errors.js";
import { trackUpdate } from "../fields/field-tracking.js";
import { dropMember } from "../json.js";
import { validateMetadata } from "../metadata-validation.js";
import { errorSubject } from "../served-resource.js";
import { StoredObject } from "../storage/stored-object.js";
import { toStorable } from "../stored-versions.js";
import { generateName } from "./generated-name.js";
import { admitToNamespace, setRequestNamespace } from "./namespace-lifecycle.js";
import type { WriteOptions } from "./options.js";
import type { WriteOutcome } from "./outcome.js";
import { dropDuplicateOwners } from "./owner-references.js";
import { rememberValidatedTemplate } from "./remember-validated-template.js";
import { type Write, warn } from "./write.js";

const NAME_ATTEMPTS = 8;

/**
 * Stores a new object with defaults. The caller must not use the object afterwards.
 *
 * @param tracked - Whether its managedFields are already correct.
 * @throws ApiError 400, 403, 404 for a missing namespace, 409, 422
 * @see kubernetes `registry.Store.Create`, `rest.BeforeCreate`
 */
export function createObject(
  write: Write,
  object: KubernetesObject,
  options: WriteOptions,
  tracked = false,
): Awaitable<WriteOutcome> {
  const nowMs = write.server.clock.now();
  // Authorization so far allowed only the update or patch.
  if (write.verb !== "create") requireCreateAllowed(write);
  setRequestNamespace(write, object);
  const { metadata } = object;
  dropMember(metadata, "uid");
  // Some clients send a timestamp. It is overwritten, not deleted first, because deleting members makes an object
  // permanently slow.
  metadata.creationTimestamp = formatTime(nowMs);
  dropMember(metadata, "deletionTimestamp");
  dropMember(metadata, "deletionGracePeriodSeconds");
  dropMember(metadata, "selfLink");
  const warning = dropDuplicateOwners(metadata, false);
  if (warning !== undefined) warn(write, [warning]);
  const creation = { write, object, options, nowMs, hasFreeName: true, hasUnstoredDefaults: false };
  return andThen(tracked ? undefined : trackUpdate(write, undefined, object, options), admit, creation);
}

interface Creation {
  readonly write: Write;
  readonly options: WriteOptions;
  readonly nowMs: number;
  /** The object with defaults, and later with the changes of admission. */
  object: KubernetesObject;
  /** Whether the object has a name that no stored object has. */
  hasFreeName: boolean;
  /** Whether the object has read defaults that are not stored. */
  hasUnstoredDefaults: boolean;
}

function admit(_tracked: unknown, creation: Creation): Awaitable<WriteOutcome> {
  const { write, object, options } = creation;
  const { resource } = write.target;
  const { name = "" } = object.metadata;
  admitToNamespace(write, name);
  const refusal = resource.custom?.createRefusal();
  if (refusal !== undefined) throw forbidden(resource, name, refusal);
  return andThen(write.server.admission.mutate(write, options, object), validate, creation);
}

function validate(object: KubernetesObject, creation: Creation): Awaitable<WriteOutcome> {
  const { write, options, nowMs } = creation;
  const { server } = write;
  const { resource } = write.target;
  const { metadata } = object;
  metadata.uid = uuid(server.random);
  const prefix = metadata.name ? "" : (metadata.generateName ?? "");
  const hasFreeName = prefix === "" || generateFreeName(write, metadata, prefix);
  resource.strategy.prepareForCreate?.(object, { nowMs, nameGenerated: prefix !== "" });
  validateNew(write, object);
  warn(write, resource.strategy.warningsOnCreate?.(object) ?? []);
  creation.object = object;
  creation.hasFreeName = hasFreeName;
  return andThen(server.admission.validate(write, options, object), convertToStored, creation);
}

function convertToStored(_admitted: void, creation: Creation): Awaitable<WriteOutcome> {
  const { write, object, hasFreeName } = creation;
  const { resource } = write.target;
  if (!hasFreeName) {
    const why = ", the server was not able to generate a unique name for the object";
    throw alreadyExists(resource, object.metadata.name ?? "", "", why, 1);
  }
  creation.hasUnstoredDefaults = resource.strategy.applyReadDefaults?.(object) === true;
  return andThen(toStorable(resource, object), store, creation);
}

/** @throws ApiError 409 */
function store(next: KubernetesObject, creation: Creation): WriteOutcome {
  const { write, object, options, hasUnstoredDefaults } = creation;
  const { resource } = write.target;
  const { metadata } = object;
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
    return { object: resource.view === undefined ? object : StoredObject.forDryRun(next), created: true };
  }
  const stored = resource.storage.write(next, write.newBytes, hasUnstoredDefaults);
  rememberValidatedTemplate(write, object);
  return { object: stored, created: true };
}

function requireCreateAllowed({ server, user, target: { resource, namespace, name, subresource } }: Write): void {
  const { group, version } = resource;
  const asked = { group, version, resource: resource.resource, subresource, namespace, name };
  server.access.requireAllowed({ user, verb: "create", path: "", resource: asked });
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

function validateNew({ server, target }: Write, object: KubernetesObject): void {
  const { resource } = target;
  const errors = new FieldErrors(server.schemas.ofType("PodSpec").validatedValues, server.allowsPrivileged);
  validateMetadata(object.metadata, resource, errors);
  resource.strategy.validateCreate?.(object, errors);
  if (!errors.isEmpty) throw invalid(errorSubject(resource), object.metadata.name ?? "", errors);
}
