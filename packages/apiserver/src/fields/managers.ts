import type { KubernetesObject } from "@kubewright/api";

import { EMPTY_FIELDS, FieldSet } from "./field-set.js";

type Entry = NonNullable<KubernetesObject["metadata"]["managedFields"]>[number];

/** A field manager and its fields: one entry of managedFields. */
export interface Manager {
  readonly name: string;
  readonly operation: "Apply" | "Update";
  readonly apiVersion: string;
  readonly subresource: string;
  readonly time: string | undefined;
  readonly fields: FieldSet;
  /** The entry that this manager was read from, while it is unchanged. */
  readonly entry?: Entry | undefined;
}

const MAX_UPDATE_MANAGERS = 10;
const ANCIENT = "ancient-changes";

/**
 * Reads and writes managedFields. Parses each `fieldsV1` once: versions of an object, and similar objects, share them.
 */
export class ManagerReader {
  readonly #parsed = new WeakMap<object, FieldSet>();

  /** @throws Error when an entry cannot be parsed. */
  read(entries: readonly Entry[] | undefined): Manager[] {
    return (entries ?? []).map((entry) => ({
      name: entry.manager ?? "",
      operation: entry.operation === "Apply" ? "Apply" : "Update",
      apiVersion: entry.apiVersion ?? "",
      subresource: entry.subresource ?? "",
      time: entry.time,
      fields: this.#fields(entry.fieldsV1),
      entry,
    }));
  }

  /** Returns the entries of the managers. Unchanged entries are the same objects. */
  write(managers: readonly Manager[]): Entry[] {
    return managers.map((manager) => {
      if (manager.entry !== undefined) return manager.entry;
      const fieldsV1 = manager.fields.toJson();
      this.#parsed.set(fieldsV1, manager.fields);
      return {
        manager: manager.name,
        operation: manager.operation,
        apiVersion: manager.apiVersion,
        ...(manager.time === undefined ? {} : { time: manager.time }),
        fieldsType: "FieldsV1",
        fieldsV1,
        ...(manager.subresource === "" ? {} : { subresource: manager.subresource }),
      };
    });
  }

  #fields(json: object | undefined): FieldSet {
    if (json === undefined) return EMPTY_FIELDS;
    let fields = this.#parsed.get(json);
    if (fields === undefined) this.#parsed.set(json, (fields = FieldSet.fromJson(json)));
    return fields;
  }
}

export function isSameManager(
  a: Pick<Manager, "name" | "operation" | "apiVersion" | "subresource">,
  b: typeof a,
): boolean {
  return (
    a.name === b.name &&
    a.operation === b.operation &&
    a.subresource === b.subresource &&
    (a.operation === "Apply" || a.apiVersion === b.apiVersion)
  );
}

/**
 * Sorts appliers first, then by time, name, version and subresource. Merges the oldest updaters into one when there are
 * too many.
 */
export function arrangeManagers(managers: readonly Manager[]): Manager[] {
  const nonEmpty = managers.filter((manager) => !manager.fields.isEmpty).sort(compareManagers);
  const updaters = nonEmpty.filter((manager) => manager.operation === "Update");
  if (updaters.length <= MAX_UPDATE_MANAGERS) return nonEmpty;
  let surplus = updaters.length - MAX_UPDATE_MANAGERS;
  const ancient = new Map<string, Manager>();
  const rest: Manager[] = nonEmpty.filter((manager) => manager.operation === "Apply");
  for (const manager of updaters) {
    if (surplus < 0) {
      rest.push(manager);
      continue;
    }
    const known = ancient.get(manager.apiVersion);
    // Merging two entries saves one: the first entry of a version only replaces itself.
    ancient.set(manager.apiVersion, {
      ...manager,
      entry: undefined,
      name: ANCIENT,
      subresource: "",
      fields: known === undefined ? manager.fields : known.fields.union(manager.fields),
    });
    if (known !== undefined || manager.name === ANCIENT) surplus--;
    else if (ancient.size === 1) surplus--;
  }
  return [...rest, ...ancient.values()].sort(compareManagers);
}

function compareManagers(a: Manager, b: Manager): number {
  if (a.operation !== b.operation) return a.operation === "Apply" ? -1 : 1;
  return (
    compare(a.time ?? "", b.time ?? "") ||
    compare(a.name, b.name) ||
    compare(a.apiVersion, b.apiVersion) ||
    compare(a.subresource, b.subresource)
  );
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
