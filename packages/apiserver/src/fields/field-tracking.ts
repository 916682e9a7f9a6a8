import { type KubernetesObject, formatTime } from "@kubewright/api";

import { type Awaitable, andThen } from "../awaitable.js";
import { dropMember } from "../json.js";
import { subresourceOf } from "../route.js";
import type { WriteOptions } from "../registry/options.js";
import type { Write } from "../registry/write.js";
import { EMPTY_FIELDS, FieldSet, LEAF } from "./field-set.js";
import { type Manager, arrangeManagers, isSameManager } from "./managers.js";
import type { FieldChanges } from "./shape-memo.js";
import { compareTyped } from "./typed-value.js";
import { changesByVersion, changesOf } from "./versioned-changes.js";

/** Metadata fields that belong to the server and to no manager. */
const SYSTEM_METADATA = [
  "name",
  "namespace",
  "creationTimestamp",
  "selfLink",
  "uid",
  "clusterName",
  "generation",
  "managedFields",
  "resourceVersion",
];
const SYSTEM_FIELDS = new FieldSet(
  false,
  new Map([
    ["f:apiVersion", LEAF],
    ["f:kind", LEAF],
    ["f:metadata", new FieldSet(true, new Map(SYSTEM_METADATA.map((name) => [`f:${name}`, LEAF])))],
  ]),
);

/** Removes the server's own fields and the fields that this endpoint resets (`status` of the main resource). */
export function ownableFields({ target }: Write, fields: FieldSet): FieldSet {
  const own = fields.difference(SYSTEM_FIELDS);
  const { strategy } = target.resource;
  const through = subresourceOf(target)?.strategy;
  const ignored =
    through !== undefined ? `f:${through.resets ?? "spec"}` : strategy.status === undefined ? undefined : "f:status";
  if (ignored === undefined || !own.children.has(ignored)) return own;
  const children = new Map(own.children);
  children.delete(ignored);
  return new FieldSet(own.member, children);
}

/**
 * Updates the new object's managedFields. The manager of this request gets the fields that differ from the stored
 * object; other managers lose them.
 *
 * Upstream: apimachinery `managedfields`, structured-merge-diff `merge.Updater.Update`.
 */
export function trackUpdate(
  write: Write,
  stored: KubernetesObject | undefined,
  object: KubernetesObject,
  options: WriteOptions,
): Awaitable<void> {
  const { metadata } = object;
  const sent = metadata.managedFields;
  dropMember(metadata, "managedFields");
  if (!write.server.tracksFields) return;
  // An empty list, or a list of empty entries, resets managedFields.
  if (
    stored !== undefined &&
    write.target.subresource === "" &&
    sent !== undefined &&
    sent.every((entry) => !entry.manager && !entry.fieldsV1)
  )
    return;
  const entries =
    stored === undefined
      ? []
      : write.target.subresource === "" && sent !== undefined && sent.length > 0
        ? sent
        : stored.metadata.managedFields;
  if (stored !== undefined && (entries ?? []).length === 0) return;
  let managers: Manager[];
  try {
    managers = write.server.managers.read(entries);
  } catch {
    return;
  }
  const { resource } = write.target;
  const own = (fields: FieldSet): FieldSet => ownableFields(write, fields);
  const changes =
    stored === undefined
      ? write.server.newObjectFields.compare(resource, object, own)
      : changesOf(compareTyped(resource.schema, withoutManagedFields(stored), object), own);
  if (changes.changed.isEmpty && changes.removed.isEmpty) {
    if (entries !== undefined && entries.length > 0) metadata.managedFields = [...entries];
    return;
  }
  const me = {
    name: options.fieldManager,
    operation: "Update" as const,
    apiVersion: resource.apiVersion,
    subresource: write.target.subresource,
  };
  const time = formatTime(write.server.clock.now());
  let mine: FieldSet = EMPTY_FIELDS;
  const others: Manager[] = [];
  const versions = [withoutManagedFields(stored ?? object), object] as const;
  return andThen(changesByVersion(write, versions, changes, managers, own), (changesFor) => {
    for (const manager of managers) {
      if (isSameManager(manager, me)) mine = manager.fields;
      else others.push(withoutFields(manager, changesFor(manager)));
    }
    const { changed, removed } = changes;
    const next = arrangeManagers([...others, { ...me, time, fields: mine.difference(removed).union(changed) }]);
    if (next.length > 0) metadata.managedFields = write.server.managers.write(next);
  });
}

/** Returns the manager without the fields that another manager's write changed or removed. */
export function withoutFields(manager: Manager, { changed, removed }: FieldChanges): Manager {
  return withFields(manager, manager.fields.difference(changed).difference(removed));
}

export function withFields(manager: Manager, fields: FieldSet): Manager {
  return fields === manager.fields ? manager : { ...manager, fields, entry: undefined };
}

/** Returns the object without its managedFields. Shares the rest. */
export function withoutManagedFields(object: KubernetesObject): KubernetesObject {
  if (object.metadata.managedFields === undefined) return object;
  const { managedFields: _managedFields, ...metadata } = object.metadata;
  return { ...object, metadata };
}
