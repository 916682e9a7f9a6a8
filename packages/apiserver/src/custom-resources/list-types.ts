import type { FieldErrors } from "../field-errors.js";
import { isJsonObject, ownMember, sortedJson } from "../json.js";
import { pathText } from "../message-limit.js";
import { type StructuralSchema, someSchema, visitDeclared } from "./structural-schema.js";

/** Whether a schema contains lists with unique items (list types `set` and `map`). */
export function hasListTypes(schema: StructuralSchema | undefined): boolean {
  return someSchema(schema, hasUniqueItems);
}

function hasUniqueItems(schema: StructuralSchema): boolean {
  const listType = schema["x-kubernetes-list-type"];
  return listType === "set" || listType === "map";
}

/** Returns what identifies an item: the item itself, or its keys in a map list. */
export function itemIdentity(schema: StructuralSchema, item: unknown): unknown {
  if (schema["x-kubernetes-list-type"] !== "map" || !isJsonObject(item)) return item;
  const identity: Record<string, unknown> = {};
  for (const key of schema["x-kubernetes-list-map-keys"] ?? []) {
    const value = ownMember(item, key);
    if (value !== undefined) identity[key] = value;
  }
  return identity;
}

/**
 * Reports duplicate items of sets and duplicate keys of map lists. Upstream: `ValidateListSetsAndMaps`.
 *
 * @param old - The old value. When it also has duplicates, no error is reported.
 */
export function validateListTypes(
  schema: StructuralSchema | undefined,
  value: unknown,
  errors: FieldErrors,
  old?: unknown,
): void {
  const found = duplicatesIn(schema, value);
  if (found.length === 0 || (old !== undefined && duplicatesIn(schema, old).length > 0)) return;
  for (const { field, identity } of found) errors.duplicate(field, identity);
}

function duplicatesIn(
  root: StructuralSchema | undefined,
  value: unknown,
): { readonly field: string; readonly identity: unknown }[] {
  const found: { field: string; identity: unknown }[] = [];
  visitDeclared(root, value, (schema, list, path) => {
    if (!Array.isArray(list) || !hasUniqueItems(schema)) return;
    const seen = new Map<string, number>();
    for (const [index, item] of (list as unknown[]).entries()) {
      const identity = itemIdentity(schema, item);
      const text = sortedJson(identity);
      const count = (seen.get(text) ?? 0) + 1;
      seen.set(text, count);
      // Upstream reports each duplicate once, at its second index.
      if (count === 2) found.push({ field: `${pathText(path)}[${index}]`, identity });
    }
  });
  return found;
}
