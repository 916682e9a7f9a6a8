import { type KubernetesObject, formatTime } from "@kubewright/api";
import { uuid } from "@kubewright/clock";

import { type ApiCall, warn } from "../api-call.js";
import { alreadyExists, badRequest, conflict, forbidden, invalid, notFound, plainError } from "../api-error.js";
import { admitGrant } from "../authorization/escalation.js";
import { FieldErrors } from "../field-errors.js";
import { trackUpdate } from "../fields/field-tracking.js";
import { generateName } from "../generated-name.js";
import { dropMember } from "../json.js";
import { validateMetadata } from "../metadata-validation.js";
import { dropDuplicateOwners } from "../owner-references.js";
import type { Reply } from "../reply.js";
import { errorSubject } from "../served-resource.js";
import { type WriteOptions, readWriteOptions } from "../write-options.js";
import { decodeRequestObject } from "./decode-object.js";
import { objectReply } from "./object-reply.js";

const NAME_ATTEMPTS = 8;

/** POST on a collection. Upstream: `handlers.CreateResource`, `registry.Store.Create`. */
export function create(call: ApiCall): Reply {
  const options = readWriteOptions(call, "CreateOptions");
  const object = decodeRequestObject(call, options);
  return createObject(call, object, options);
}

/** Everything after decoding; also what an update or apply of a missing object comes to. Takes the object over. */
export function createObject(call: ApiCall, object: KubernetesObject, options: WriteOptions, tracked = false): Reply {
  const { resource } = call.target;
  const { server } = call;
  const nowMs = server.clock.now();
  // Who may update or patch was let in for that only.
  if (call.verb !== "create") demandCreate(call);
  admitGrant(call, object);
  setRequestNamespace(call, object);
  const { metadata } = object;
  dropMember(metadata, "uid");
  // Some clients send one. It is not taken away first, as an object that loses members is slow for good.
  metadata.creationTimestamp = formatTime(nowMs);
  dropMember(metadata, "deletionTimestamp");
  dropMember(metadata, "deletionGracePeriodSeconds");
  dropMember(metadata, "selfLink");
  const warning = dropDuplicateOwners(metadata, false);
  if (warning !== undefined) warn(call, [warning]);
  if (!tracked) trackUpdate(call, undefined, object, options);
  admitToNamespace(call, metadata.name ?? "");
  const refusal = resource.custom?.createRefusal();
  if (refusal !== undefined) throw forbidden(resource, metadata.name ?? "", refusal);
  metadata.uid = uuid(server.random);
  const prefix = metadata.name ? "" : (metadata.generateName ?? "");
  const free = prefix === "" || giveName(call, metadata, prefix);
  resource.strategy.prepareForCreate?.(object, { nowMs, nameGenerated: prefix !== "" });
  validateNew(call, object);
  warn(call, resource.strategy.warningsOnCreate?.(object) ?? []);
  if (!free)
    throw alreadyExists(
      resource,
      metadata.name ?? "",
      "",
      ", the server was not able to generate a unique name for the object",
      1,
    );
  const existing = prefix === "" ? resource.storage.get(metadata.namespace ?? "", metadata.name ?? "") : undefined;
  if (existing !== undefined) {
    throw alreadyExists(
      resource,
      existing.name,
      existing.object.metadata.deletionTimestamp ? "object is being deleted: " : "",
    );
  }
  if (metadata.resourceVersion && metadata.resourceVersion !== "0")
    throw plainError("resourceVersion should not be set on objects to be created");
  const unstoredDefaults = resource.strategy.applyReadDefaults?.(object) === true;
  if (options.dryRun) {
    dropMember(metadata, "resourceVersion");
    return objectReply(call, 201, object);
  }
  const stored = resource.storage.write(
    resource.view === undefined ? object : resource.view.toStored(object),
    call.newBytes,
    unstoredDefaults,
  );
  settleTemplate(call, object);
  return objectReply(call, 201, stored);
}

/** Lets what is made from a stored template have parts of it unseen. */
export function settleTemplate({ server, target }: ApiCall, object: KubernetesObject): void {
  const spec = target.resource.strategy.podTemplate?.(object)?.spec;
  if (spec !== undefined) server.schemas.ofType("PodSpec").settled?.add(spec);
}

function demandCreate({ server, user, target: { resource, namespace, name, subresource } }: ApiCall): void {
  const { group, version } = resource;
  const asked = { group, version, resource: resource.resource, subresource, namespace, name };
  server.access.demand({ user, verb: "create", path: "", resource: asked });
}

/** Draws names until one is free. Answers false when none of the attempts was. */
function giveName(call: ApiCall, metadata: KubernetesObject["metadata"], prefix: string): boolean {
  const { storage } = call.target.resource;
  for (let attempt = 0; attempt < NAME_ATTEMPTS; attempt++) {
    metadata.name = generateName(prefix, call.server.random);
    if (storage.get(metadata.namespace ?? "", metadata.name) === undefined) return true;
  }
  return false;
}

function validateNew(call: ApiCall, object: KubernetesObject): void {
  const { resource } = call.target;
  const errors = new FieldErrors(call.server.schemas.ofType("PodSpec").settled);
  validateMetadata(object.metadata, resource, errors);
  resource.strategy.validateCreate?.(object, errors);
  if (!errors.isEmpty) throw invalid(errorSubject(resource), object.metadata.name ?? "", errors);
}

/** The namespace of the path is the object's. @throws ApiError 400 when the object names another. */
export function setRequestNamespace(call: ApiCall, object: KubernetesObject): void {
  const { resource, namespace } = call.target;
  const { metadata } = object;
  if (!resource.namespaced) {
    delete metadata.namespace;
    return;
  }
  if (metadata.namespace && metadata.namespace !== namespace) {
    throw badRequest("the namespace of the provided object does not match the namespace sent on the request");
  }
  metadata.namespace = namespace;
}

/** Nothing is created in a namespace that does not exist or is on its way out. Upstream: NamespaceLifecycle admission. */
export function admitToNamespace(call: ApiCall, name: string): void {
  const { resource, namespace } = call.target;
  const { namespaces } = call.server;
  if (!resource.namespaced || namespaces === undefined) return;
  const stored = namespaces.storage.get("", namespace);
  if (stored === undefined) throw notFound(namespaces, namespace);
  if (!stored.object.metadata.deletionTimestamp) return;
  throw forbidden(
    resource,
    name,
    `unable to create new content in namespace ${namespace} because it is being terminated`,
    [
      {
        reason: "NamespaceTerminating",
        message: `namespace ${namespace} is being terminated`,
        field: "metadata.namespace",
      },
    ],
  );
}

/** A precondition on a UID that is not (or no longer) the object's. */
export function uidConflict(call: ApiCall, name: string, sent: string, stored: string): Error {
  const { resource, namespace } = call.target;
  const group = resource.custom === undefined || resource.group === "" ? "" : `${resource.group}/`;
  const key = `/registry/${group}${resource.resource}/${resource.namespaced ? `${namespace}/` : ""}${name}`;
  const why = `StorageError: invalid object, Code: 4, Key: ${key}, ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: UID in precondition: ${sent}, UID in object meta: ${stored}`;
  return conflict(resource, name, why);
}
