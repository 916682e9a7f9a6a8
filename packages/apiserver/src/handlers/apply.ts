import { type KubernetesObject, formatTime } from "@kubewright/api";

import type { ApiCall } from "../api-call.js";
import { badRequest, conflict, plainError, statusError } from "../api-error.js";
import { type Awaitable, andThen } from "../awaitable.js";
import { EMPTY_FIELDS, type FieldSet } from "../fields/field-set.js";
import { ownableFields, withoutFields, withoutManagedFields } from "../fields/field-tracking.js";
import { type Manager, arrangeManagers, isSameManager } from "../fields/managers.js";
import type { FieldChanges } from "../fields/shape-memo.js";
import { compareTyped, fieldsOf, mergeTyped, typeErrors } from "../fields/typed-value.js";
import { type ChangesFor, changesByVersion, changesOf, pruneAbandoned } from "../fields/versioned-changes.js";
import { type JsonObject, isJsonObject, sortedJson, textOf } from "../json.js";
import { TOO_DEEP, isNestedDeeper } from "../nesting.js";
import type { WriteOptions } from "../registry/options.js";
import { checkName, writeObject } from "../registry/write-object.js";
import type { Reply } from "../reply.js";
import { bodyText } from "../request-body.js";
import { DecodeError } from "../schema/decode.js";
import type { ServedResource } from "../served-resource.js";
import { truncateMessages } from "../message-limit.js";
import { parseYaml, repeatedYamlKey } from "../yaml.js";
import { decodeObject } from "./decode-object.js";
import { outcomeReply } from "./object-reply.js";

const LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration";

/**
 * PATCH with an apply configuration. The manager becomes the owner of its fields. Fields that the manager owned before
 * and has left out are removed. Fields that other managers own with another value are conflicts.
 *
 * Upstream: structured-merge-diff `merge.Updater.Apply`, apimachinery `managedfields.FieldManager.Apply`.
 */
export function apply(call: ApiCall, options: WriteOptions): Awaitable<Reply> {
  const { resource } = call.target;
  const applied = readConfiguration(call, options, resource);
  const { schema } = resource;
  if (schema !== undefined) {
    const errors = typeErrors(schema, applied);
    if (errors.length > 0)
      throw plainError(
        `failed to create typed patch object (${typedName(applied)}; ${gvk(resource.apiVersion, resource.kind)}): ${truncateMessages(errors).join("\n")}`,
      );
  }
  return outcomeReply(
    call,
    writeObject(call, options, {
      read: (live) => applyTo(call, options, applied, live),
      isTracked: true,
      createsMissing: true,
    }),
  );
}

/**
 * Applies the configuration to the live object.
 *
 * @throws ApiError 409 for conflicts.
 */
function applyTo(
  call: ApiCall,
  options: WriteOptions,
  applied: JsonObject,
  live: KubernetesObject | undefined,
): Awaitable<KubernetesObject> {
  const { resource } = call.target;
  const { schema } = resource;
  if (live === undefined) checkCreation(call, applied);
  const managers = live === undefined ? [] : currentManagers(call, live);
  const identity = {
    name: options.fieldManager,
    operation: "Apply" as const,
    apiVersion: resource.apiVersion,
    subresource: call.target.subresource,
  };
  const before = managers.find((manager) => isSameManager(manager, identity));
  const others = managers.filter((manager) => manager !== before);
  const me: Manager = { ...identity, time: undefined, fields: ownableFields(call, fieldsOf(schema, applied)) };
  const base = live === undefined ? resource.decode({}) : withoutManagedFields(live);
  const merged = mergeTyped(schema, base, applied);
  const kept = before === undefined ? merged : pruneAbandoned(call, merged, before, [...others, me]);
  return andThen(kept, (wanted) => {
    // Defaults have no owner: the comparison uses the merged object without them.
    const compared = normalized(resource, wanted);
    const own = (fields: FieldSet): FieldSet => ownableFields(call, fields);
    const changes = changesOf(compareTyped(schema, base, compared), own);
    return andThen(changesByVersion(call, [base, compared], changes, others, own), (changesFor) =>
      updateManagers(call, options, { applied, live, merged: wanted, me, before, others, changes, changesFor }),
    );
  });
}

/** An apply with its computed changes. */
interface ComputedApply {
  readonly applied: JsonObject;
  readonly live: KubernetesObject | undefined;
  readonly merged: unknown;
  /** The applier with the applied fields. */
  readonly me: Manager;
  /** The applier with its previous fields. */
  readonly before: Manager | undefined;
  readonly others: readonly Manager[];
  readonly changes: FieldChanges;
  readonly changesFor: ChangesFor;
}

/**
 * Checks for conflicts and updates the managers.
 *
 * @throws ApiError 409 for conflicts.
 */
function updateManagers(
  call: ApiCall,
  options: WriteOptions,
  { applied, live, merged, me, before, others, changes, changesFor }: ComputedApply,
): KubernetesObject {
  const { resource, name } = call.target;
  const { schema } = resource;
  const mine: FieldChanges = { ...changes, changed: changes.changed.intersection(me.fields) };
  const permitted = takeoverFields(call, options, live, schema);
  const conflicts = conflictsOf(
    others,
    (manager) => {
      const theirs = changesFor(manager);
      return (theirs === changes ? mine : theirs).changed;
    },
    permitted,
  );
  if (conflicts.length > 0 && !call.query.flag("force")) throw applyConflict(conflicts);
  const { object } = decodeObject(call, merged, undefined, ({ message }) => badRequest(message));
  const rest = others.map((manager) => withoutFields(manager, changesFor(manager)));
  const sameObject = live !== undefined && changes.changed.isEmpty && changes.removed.isEmpty;
  const sameFields =
    before !== undefined &&
    before.apiVersion === me.apiVersion &&
    before.fields.equals(me.fields) &&
    rest.every((manager, index) => manager === others[index]);
  // An applier that only becomes a co-owner of unchanged fields has no time.
  const time = sameObject ? before?.time : formatTime(call.server.clock.now());
  const next = arrangeManagers([...rest, { ...me, time }]);
  if (sameObject && sameFields && live.metadata.managedFields !== undefined)
    object.metadata.managedFields = live.metadata.managedFields;
  else if (call.server.tracksFields && next.length > 0)
    object.metadata.managedFields = call.server.managers.write(next);
  else delete object.metadata.managedFields;

  resource.strategy.applyDefaults?.(object);
  syncLastApplied(object, applied, options);
  object.metadata.name ??= name;
  return object;
}

/** Formats a kind: `batch/v1, Kind=Job`, or `/v1, Kind=Pod`. */
function gvk(apiVersion: string, kind: string): string {
  return `${apiVersion.includes("/") ? apiVersion : `/${apiVersion}`}, Kind=${kind}`;
}

/**
 * Reads the apply configuration.
 *
 * @param expected - The required apiVersion and kind.
 * @throws ApiError 400
 */
export function readConfiguration(
  call: ApiCall,
  options: WriteOptions,
  expected: { readonly apiVersion: string; readonly kind: string },
): JsonObject {
  const { body } = call.request;
  let value: unknown;
  try {
    // An empty body is an empty object.
    value = (body?.type === "decoded" ? body.value : parseYaml(bodyText(body))) ?? {};
  } catch (error) {
    throw badRequest(
      `error decoding YAML: error converting YAML to JSON: yaml: ${(error as Error).message.split("\n", 1)[0]}`,
    );
  }
  if (isNestedDeeper(value)) throw badRequest(`error decoding YAML: ${TOO_DEEP}`);
  if (options.fieldValidation === "Strict" && body?.type === "bytes") {
    const repeated = repeatedYamlKey(bodyText(body));
    if (repeated !== undefined)
      throw badRequest(
        `error strict decoding YAML: error converting YAML to JSON: yaml: unmarshal errors:\n  ${repeated}`,
      );
  }
  if (!isJsonObject(value)) throw badRequest("error decoding YAML: the configuration is no object");
  const { apiVersion, kind, metadata } = value;
  if (apiVersion !== expected.apiVersion || kind !== expected.kind)
    throw badRequest(`invalid object type: ${gvk(textOf(apiVersion), textOf(kind))}`);
  if (isJsonObject(metadata) && metadata["managedFields"] !== undefined && metadata["managedFields"] !== null)
    throw badRequest("metadata.managedFields must be nil");
  return value;
}

function typedName(applied: JsonObject): string {
  const metadata = isJsonObject(applied["metadata"]) ? applied["metadata"] : {};
  return `${textOf(metadata["namespace"])}/${textOf(metadata["name"])}`;
}

function checkCreation(call: ApiCall, applied: JsonObject): void {
  const { resource, name, subresource } = call.target;
  if (subresource !== "")
    throw statusError(
      404,
      "NotFound",
      `${resource.group === "" ? resource.resource : `${resource.resource}.${resource.group}`} ${JSON.stringify(name)} not found`,
      { name, ...(resource.group === "" ? {} : { group: resource.group }), kind: resource.resource },
    );
  const metadata = isJsonObject(applied["metadata"]) ? applied["metadata"] : {};
  checkName(call, { metadata });
  const { uid } = metadata;
  if (uid)
    throw conflict(
      resource,
      name,
      `uid mismatch: the provided object specified uid ${textOf(uid)}, and no existing object was found`,
    );
}

/** Returns the managers of a live object. If it has none, all its fields belong to `before-first-apply`. */
function currentManagers(call: ApiCall, live: KubernetesObject): Manager[] {
  const { resource } = call.target;
  let managers: Manager[] = [];
  try {
    managers = call.server.managers.read(live.metadata.managedFields);
  } catch {
    // Unreadable managedFields are replaced.
  }
  if (managers.length > 0) return managers;
  const fields = fieldsOf(resource.schema, withoutManagedFields(live));
  const all = ownableFields(call, fields);
  return [
    {
      name: "before-first-apply",
      operation: "Update",
      apiVersion: resource.apiVersion,
      subresource: "",
      time: formatTime(call.server.clock.now()),
      fields: all,
    },
  ];
}

/**
 * Decodes the merged object, so that quantities, times and zero values have their stored form for the comparison.
 * Returns an undecodable object unchanged: it is refused later, because conflicts are checked first.
 */
function normalized(resource: ServedResource, merged: unknown): KubernetesObject {
  try {
    return withoutManagedFields(resource.decode(merged));
  } catch (error) {
    if (error instanceof DecodeError) return withoutManagedFields(merged as KubernetesObject);
    throw error;
  }
}

export interface Conflict {
  readonly manager: Manager;
  readonly paths: readonly string[];
}

function conflictsOf(
  others: readonly Manager[],
  changedFor: (manager: Manager) => FieldSet,
  permitted: FieldSet,
): Conflict[] {
  const conflicts: Conflict[] = [];
  for (const manager of others) {
    const paths = truncateMessages(
      manager.fields.intersection(changedFor(manager)).difference(permitted).paths(),
    ).toSorted();
    if (paths.length > 0) conflicts.push({ manager, paths });
  }
  return conflicts;
}

/**
 * Returns the fields that kubectl's client-side apply set before and that are unchanged since: kubectl may take them
 * over.
 */
function takeoverFields(
  call: ApiCall,
  options: WriteOptions,
  live: KubernetesObject | undefined,
  schema: ServedResource["schema"],
): FieldSet {
  const text = live?.metadata.annotations?.[LAST_APPLIED];
  if (options.fieldManager !== "kubectl" || text === undefined || live === undefined) return EMPTY_FIELDS;
  let last: unknown;
  try {
    last = JSON.parse(text);
  } catch {
    return EMPTY_FIELDS;
  }
  if (isNestedDeeper(last)) return EMPTY_FIELDS;
  const merged = mergeTyped(schema, withoutManagedFields(live), last);
  const compared = compareTyped(schema, withoutManagedFields(live), merged);
  return fieldsOf(schema, last).difference(compared.modified).difference(compared.added);
}

/** Updates kubectl's last-applied annotation, if the object has one. */
function syncLastApplied(object: KubernetesObject, applied: JsonObject, { fieldManager }: WriteOptions): void {
  const { annotations } = object.metadata;
  if (fieldManager !== "kubectl" || annotations?.[LAST_APPLIED] === undefined) return;
  annotations[LAST_APPLIED] = `${sortedJson(applied)}\n`;
}

/** Returns the 409 error that lists the conflicting managers and fields. */
export function applyConflict(conflicts: readonly Conflict[]): Error {
  const named = conflicts
    .map(({ manager, paths }) => ({ who: describeManager(manager), paths }))
    .sort((a, b) => (a.who < b.who ? -1 : a.who > b.who ? 1 : 0));
  const total = named.reduce((sum, { paths }) => sum + paths.length, 0);
  const causes = named.flatMap(({ who, paths }) =>
    paths.map((field) => ({ reason: "FieldManagerConflict", message: `conflict with ${who}`, field })),
  );
  const text =
    total === 1
      ? `Apply failed with 1 conflict: conflict with ${named[0]!.who}: ${named[0]!.paths[0]!}`
      : `Apply failed with ${total} conflicts: ${named.map(({ who, paths }) => `conflicts with ${who}:\n${paths.map((path) => `- ${path}`).join("\n")}`).join("\n")}`;
  return statusError(409, "Conflict", text, { causes });
}

function describeManager({ name, operation, apiVersion, subresource }: Manager): string {
  const where = subresource === "" ? "" : ` with subresource ${JSON.stringify(subresource)}`;
  return `${JSON.stringify(name)}${where}${operation === "Update" ? ` using ${apiVersion}` : ""}`;
}
