import type { KubernetesObject } from "@kubewright/api";

import { type JsonObject, ownMember } from "../json.js";
import type { ObjectSchema } from "../schema/schema.js";
import type { ServedResource } from "../served-resource.js";
import { EMPTY_FIELDS, FieldSet, LEAF } from "./field-set.js";
import { type FieldChanges, ShapeMemo } from "./shape-memo.js";

/** What is known of one kind. */
interface KnownKind {
  /** By member of the object. */
  readonly memos: ReadonlyMap<string, ShapeMemo>;
  /** The last object's: the next one is mostly like it. */
  last: { readonly parts: readonly FieldChanges[]; readonly fields: FieldChanges } | undefined;
}

/** Which fields new objects bring along. Every object of a kind is compared with the same one, so shapes are remembered. */
export class NewObjectFields {
  readonly #kinds = new WeakMap<ObjectSchema, KnownKind>();

  /** @param ownable - Leaves out what no manager owns; always the same for a resource. */
  compare(resource: ServedResource, object: KubernetesObject, ownable: (fields: FieldSet) => FieldSet): FieldChanges {
    const { schema } = resource;
    if (schema === undefined) return NO_FIELDS;
    let kind = this.#kinds.get(schema);
    if (kind === undefined)
      this.#kinds.set(schema, (kind = { memos: memosOf(schema, resource.decode({})), last: undefined }));
    const keys = Object.keys(object);
    const parts = keys.map((key) => kind.memos.get(key)?.compare((object as unknown as JsonObject)[key]) ?? UNKNOWN);
    const { last } = kind;
    // A shape's result is one object: equal parts of one kind are of equal members.
    if (last !== undefined && last.parts.length === parts.length && last.parts.every((part, at) => part === parts[at]))
      return last.fields;
    const gather = (side: keyof FieldChanges): FieldSet => {
      const children = new Map<string, FieldSet>();
      for (const [index, part] of parts.entries())
        if (!part[side].isEmpty) children.set(`f:${keys[index]}`, part[side]);
      return ownable(new FieldSet(false, children));
    };
    const fields = { changed: gather("changed"), removed: gather("removed") };
    if (!parts.includes(UNKNOWN)) kind.last = { parts, fields };
    return fields;
  }
}

const NO_FIELDS: FieldChanges = { changed: EMPTY_FIELDS, removed: EMPTY_FIELDS };
/** What the type does not declare has one owner. */
const UNKNOWN: FieldChanges = { changed: LEAF, removed: EMPTY_FIELDS };

/** @param zero - What an object is compared with when there was none: one that has only what every object has. */
function memosOf(schema: ObjectSchema, zero: KubernetesObject): KnownKind["memos"] {
  return new Map(
    [...schema.fields.values()].map((field) => [
      field.name,
      new ShapeMemo(field.schema, ownMember(zero as unknown as JsonObject, field.name)),
    ]),
  );
}
