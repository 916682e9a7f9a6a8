import type { KubernetesObject } from "@kubewright/api";

import type { Write } from "../registry/write.js";
import { FieldSet, LEAF } from "./field-set.js";
import { withFields } from "./field-tracking.js";
import { type Manager, arrangeManagers, isSameManager } from "./managers.js";

/** Field managers of an object's replica count. Upstream: apimachinery `managedfields.ScaleHandler`. */
export class ReplicaOwners {
  readonly #write: Write;
  readonly #managers: readonly Manager[];
  readonly #field: FieldSet;

  /** @param path - JSON path of the replica count. */
  constructor(write: Write, object: KubernetesObject, path: string) {
    this.#write = write;
    this.#field = fieldAt(path.split(".").filter((part) => part !== ""));
    try {
      this.#managers = write.server.managers.read(object.metadata.managedFields);
    } catch {
      // Unreadable managedFields are replaced.
      this.#managers = [];
    }
  }

  get isTracked(): boolean {
    return this.#write.server.tracksFields && this.#managers.length > 0;
  }

  /** All managers that own the replica count. */
  get owners(): readonly Manager[] {
    return this.#managers.filter(({ fields }) => !fields.intersection(this.#field).isEmpty);
  }

  /** Returns the identity of the writing manager. */
  writer(name: string, operation: Manager["operation"]): Omit<Manager, "fields" | "time"> {
    return { name, operation, apiVersion: this.#write.target.resource.apiVersion, subresource: "scale" };
  }

  /**
   * Returns the managedFields after a write. A manager that becomes an owner this way has no time, as upstream.
   *
   * @param isChanged - Whether the write changes the replica count.
   */
  managedFieldsAfter(
    writer: Omit<Manager, "fields" | "time">,
    isChanged: boolean,
  ): KubernetesObject["metadata"]["managedFields"] {
    const rest = this.#managers.filter((manager) => !isSameManager(manager, writer));
    const before = this.#managers.find((manager) => isSameManager(manager, writer));
    const others = isChanged
      ? rest.map((manager) => withFields(manager, manager.fields.difference(this.#field)))
      : rest;
    const mine: Manager =
      before === undefined
        ? { ...writer, time: undefined, fields: this.#field }
        : withFields(before, before.fields.union(this.#field));
    return this.#write.server.managers.write(arrangeManagers([...others, mine]));
  }
}

function fieldAt([name, ...rest]: readonly string[]): FieldSet {
  return name === undefined ? LEAF : new FieldSet(false, new Map([[`f:${name}`, fieldAt(rest)]]));
}
