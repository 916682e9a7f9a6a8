import type { KubernetesObject } from "@kubewright/api";

import type { Awaitable } from "../awaitable.js";
import type { Write } from "../registry/write.js";
import type { ObjectConversion, ServedResource } from "../served-resource.js";
import { EMPTY_FIELDS, type FieldSet } from "./field-set.js";
import type { Manager } from "./managers.js";
import type { FieldChanges } from "./shape-memo.js";
import { type Comparison, compareTyped, fieldsOf, removeFields } from "./typed-value.js";

/** Returns the changes of an update in the API version of a manager. */
export type ChangesFor = (manager: Manager) => FieldChanges;

/** Returns the changed and the removed fields that managers may own. */
export function changesOf(compared: Comparison, ownable: (fields: FieldSet) => FieldSet): FieldChanges {
  const { added, modified, removed } = compared;
  return { changed: ownable(added.union(modified)), removed: ownable(removed) };
}

/**
 * Returns the changes in each manager's API version. If a manager uses another version, a conversion webhook converts
 * both objects to it. Conversion `None` treats fields as equal in all versions. For a version that is not served, the
 * changes of the request's version are used.
 *
 * Upstream: structured-merge-diff `merge.Updater.update`.
 *
 * @param changes - In the version of the request.
 */
export function changesByVersion(
  { target, server }: Write,
  [before, after]: readonly [KubernetesObject, KubernetesObject],
  changes: FieldChanges,
  managers: readonly Manager[],
  ownable: (fields: FieldSet) => FieldSet,
): Awaitable<ChangesFor> {
  const others = otherVersions({ target, server }, managers);
  const conversion = target.resource.custom?.conversion;
  if (others.length === 0 || conversion === undefined) return () => changes;
  const convert = async ({ apiVersion, schema }: ServedResource): Promise<[string, FieldChanges]> => {
    const [old, next] = await conversion.convert([before, after], apiVersion);
    return [apiVersion, changesOf(compareTyped(schema, old, next), ownable)];
  };
  return Promise.all(others.map(convert)).then((converted) => {
    const byVersion = new Map(converted);
    return ({ apiVersion }) => byVersion.get(apiVersion) ?? changes;
  });
}

/** Returns the managers' versions that differ from the request's version and that a webhook converts to. */
function otherVersions(
  { target, server }: Pick<Write, "server" | "target">,
  managers: readonly Manager[],
): readonly ServedResource[] {
  const { resource } = target;
  if (resource.custom?.conversion === undefined) return [];
  const apiVersions = new Set(managers.map(({ apiVersion }) => apiVersion));
  apiVersions.delete(resource.apiVersion);
  return [...apiVersions].flatMap((apiVersion) => {
    const [group, version = ""] = apiVersion.split("/");
    return group === resource.group ? (server.registry.find(group, version, resource.resource) ?? []) : [];
  });
}

/**
 * Removes the fields that the applier applied before and no longer applies, unless other managers own them. Ownership
 * is checked in each manager's version.
 *
 * Upstream: structured-merge-diff `merge.Updater.prune`, `addBackOwnedItems`.
 *
 * @param before - The applier with its previous fields.
 * @param managers - All current managers, the applier with its applied fields.
 */
export function pruneAbandoned(
  write: Write,
  object: unknown,
  before: Manager,
  managers: readonly Manager[],
): Awaitable<unknown> {
  const { resource } = write.target;
  const conversion = resource.custom?.conversion;
  const others = otherVersions(write, [before, ...managers]);
  if (others.length === 0 || conversion === undefined) return prune(resource, object, before.fields, ownedBy(managers));
  const first = others.find(({ apiVersion }) => apiVersion === before.apiVersion) ?? resource;
  const rest = [resource, ...others].filter((other) => other !== first);
  return pruneInVersions([first, ...rest], conversion, object as KubernetesObject, { before, managers }).then(
    async (pruned) => (await conversion.convert([pruned], resource.apiVersion))[0],
  );
}

/**
 * Removes the previously applied fields in the first version. In each following version, removes the fields that have
 * disappeared by then, unless a manager of that version owns them.
 */
async function pruneInVersions(
  versions: readonly ServedResource[],
  conversion: ObjectConversion,
  object: KubernetesObject,
  { before, managers }: { readonly before: Manager; readonly managers: readonly Manager[] },
): Promise<KubernetesObject> {
  let whole = object;
  let pruned: KubernetesObject | undefined;
  for (const version of versions) {
    const { apiVersion, schema } = version;
    const converted = await conversion.convert(pruned === undefined ? [whole] : [whole, pruned], apiVersion);
    whole = converted[0]!;
    const owned = ownedBy(managers.filter((manager) => manager.apiVersion === apiVersion));
    pruned =
      converted[1] === undefined
        ? prune(version, whole, before.fields, owned)
        : prune(version, whole, fieldsOf(schema, whole), fieldsOf(schema, converted[1]).union(owned));
  }
  return pruned!;
}

function prune<T>({ schema }: ServedResource, object: T, removed: FieldSet, retained: FieldSet): T {
  return removeFields(schema, object, removed.difference(retained), retained) as T;
}

function ownedBy(managers: readonly Manager[]): FieldSet {
  return managers.reduce((all, { fields }) => all.union(fields), EMPTY_FIELDS);
}
