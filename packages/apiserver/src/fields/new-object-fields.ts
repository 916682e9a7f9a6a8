import type { KubernetesObject } from "@kubewright/api";

import { type JsonObject, ownMember } from "../json.js";
import type { ObjectSchema } from "../schema/schema.js";
import type { ServedResource } from "../served-resource.js";
import { EMPTY_FIELDS, FieldSet, LEAF } from "./field-set.js";
import { type FieldChanges, ShapeMemo } from "./shape-memo.js";

/** Memos of one kind. */
interface KnownKind {
  /** Memos by top-level member. */
  readonly memos: ReadonlyMap<string, ShapeMemo>;
  /** Result for the previous object: the next object usually has the same shape. */
  last: { readonly parts: readonly FieldChanges[]; readonly fields: FieldChanges } | undefined;
}

/**
 * Computes the fields of new objects. All new objects of a kind are compared with the same empty object, so the results
 * are memoized by shape.
 */
export class NewObjectFields {
  readonly #kinds = new WeakMap<ObjectSchema, KnownKind>();

  /** @param ownable - Removes fields that no manager owns; constant per resource. */
  compare(resource: ServedResource, object: KubernetesObject, ownable: (fields: FieldSet) => FieldSet): FieldChanges {
    const { schema } = resource;
    if (schema === undefined) return NO_FIELDS;
    let kind = this.#kinds.get(schema);
    if (kind === undefined)
      this.#kinds.set(schema, (kind = { memos: memosOf(schema, resource.decode({})), last: undefined }));
    const keys = Object.keys(object);
    const parts = keys.map((key) => kind.memos.get(key)?.compare((object as unknown as JsonObject)[key]) ?? UNKNOWN);
    const { last } = kind;
    // A shape has one result object: equal results of one kind belong to equal members.
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
/** A member that the type does not declare is owned as a whole. */
const UNKNOWN: FieldChanges = { changed: LEAF, removed: EMPTY_FIELDS };

/** @param zero - The object that new objects are compared with: it has only the fields that every object has. */
function memosOf(schema: ObjectSchema, zero: KubernetesObject): KnownKind["memos"] {
  return new Map(
    [...schema.fields.values()].map((field) => [
      field.name,
      new ShapeMemo(field.schema, ownMember(zero as unknown as JsonObject, field.name)),
    ]),
  );
}
