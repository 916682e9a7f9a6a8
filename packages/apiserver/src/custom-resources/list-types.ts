import type { FieldErrors } from "../field-errors.js";
import { isJsonObject, ownMember, sortedJson } from "../json.js";
import { pathText } from "../message-limit.js";
import type { StructuralSchema } from "./structural-schema.js";

/** Whether a schema contains lists with unique items (list types `set` and `map`). */
export function hasListTypes(schema: StructuralSchema | undefined): boolean {
  if (schema === undefined) return false;
  const { properties, additionalProperties, items } = schema;
  const listType = schema["x-kubernetes-list-type"];
  return (
    listType === "set" ||
    listType === "map" ||
    hasListTypes(items) ||
    (typeof additionalProperties === "object" && hasListTypes(additionalProperties)) ||
    Object.values(properties ?? {}).some((property) => hasListTypes(property))
  );
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
  const found = [...duplicatesIn(schema, value, [])];
  if (found.length === 0 || (old !== undefined && !duplicatesIn(schema, old, []).next().done)) return;
  for (const { field, identity } of found) errors.duplicate(field, identity);
}

function* duplicatesIn(
  schema: StructuralSchema | undefined,
  value: unknown,
  path: (string | number)[],
): Generator<{ readonly field: string; readonly identity: unknown }> {
  if (schema === undefined || typeof value !== "object" || value === null) return;
  if (Array.isArray(value)) {
    const listType = schema["x-kubernetes-list-type"];
    if (listType === "set" || listType === "map") {
      const seen = new Map<string, number>();
      for (const [index, item] of (value as unknown[]).entries()) {
        const identity = itemIdentity(schema, item);
        const text = sortedJson(identity);
        const count = (seen.get(text) ?? 0) + 1;
        seen.set(text, count);
        // Upstream reports each duplicate once, at its second index.
        if (count === 2) yield { field: `${pathText(path)}[${index}]`, identity };
      }
    }
    for (const [index, item] of (value as unknown[]).entries()) {
      path.push(index);
      yield* duplicatesIn(schema.items, item, path);
      path.pop();
    }
    return;
  }
  const { properties, additionalProperties } = schema;
  for (const [key, member] of Object.entries(value)) {
    const own = properties !== undefined && Object.hasOwn(properties, key) ? properties[key] : undefined;
    path.push(key);
    yield* duplicatesIn(
      own ?? (typeof additionalProperties === "object" ? additionalProperties : undefined),
      member,
      path,
    );
    path.pop();
  }
}
