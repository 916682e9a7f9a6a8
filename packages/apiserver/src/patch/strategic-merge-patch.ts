import { type JsonObject, copyMembers, definedMembers, goText, isJsonObject, ownMember, setMember } from "../json.js";
import { type ListSchema, type Schema, anySchema } from "../schema/schema.js";

/** The patch cannot be applied. `code` is the status code of the response. */
export class StrategicPatchError extends Error {
  override readonly name = "StrategicPatchError";

  constructor(
    readonly code: 400 | 422 | 500,
    message: string,
  ) {
    super(message);
  }
}

const DIRECTIVE = "$patch";
const RETAIN_KEYS = "$retainKeys";
const DELETE_FROM = "$deleteFromPrimitiveList/";
const ORDER = "$setElementOrder/";
const FEW_ELEMENTS = 10;
const DOLLAR = 36;

/**
 * Applies a strategic merge patch. It works like a merge patch, but lists merge by key or as sets where the schema says
 * so. Directives in the patch replace, delete, order and retain.
 *
 * Changes neither argument. The result is a new object that shares unchanged parts with the original, and nothing with
 * the patch.
 *
 * Upstream: apimachinery `strategicpatch.StrategicMergePatch`.
 *
 * @throws StrategicPatchError
 */
export function strategicMergePatch(schema: Schema, original: JsonObject, patch: JsonObject): JsonObject {
  const merged = mergeObject(schema, original, patch);
  return merged === original ? copyMembers(original) : merged;
}

/** Returns the original itself when nothing changes. */
function mergeObject(schema: Schema, original: JsonObject, patch: JsonObject): JsonObject {
  const keys = Object.keys(patch);
  let result = original;
  if (keys.some(startsWithDollar)) {
    const directive = patch[DIRECTIVE];
    if (directive === "delete") return {};
    if (directive === "replace") return withoutDirectives(patch) as JsonObject;
    if (directive !== undefined && directive !== "merge") throw unknownDirective(directive, patch);
    const retained = patch[RETAIN_KEYS];
    if (retained !== undefined) result = retainKeys(original, retained, patch);
  }
  let isComplete = true;
  for (const key of keys) {
    if (key === DIRECTIVE || key === RETAIN_KEYS) continue;
    const field = fieldOf(key);
    const current = ownMember(result, field);
    const change = patch[key];
    let next: unknown;
    if (field !== key) next = mergeDirective(schema, key, field, current, patch);
    else if (typeof change !== "object") next = change;
    else if (change !== null)
      next =
        isJsonObject(current) && isReplaced(schema, key)
          ? change
          : mergeMember(memberSchema(schema, key), key, current, change, patch);
    if (next === current) continue;
    if (result === original) result = copyMembers(original);
    setMember(result, field, next);
    if (next === undefined) isComplete = false;
  }
  return isComplete ? result : definedMembers(result);
}

/** Whether the field is replaced. Upstream: the `patchStrategy` of a field that is no list. */
function isReplaced(schema: Schema, key: string): boolean {
  return schema.type === "object" && schema.fields.get(key)?.replaces === true;
}

function startsWithDollar(key: string): boolean {
  return key.charCodeAt(0) === DOLLAR;
}

/** Returns the name of the member that a patch key refers to. */
function fieldOf(key: string): string {
  if (!startsWithDollar(key)) return key;
  if (key.startsWith(DELETE_FROM)) return key.slice(DELETE_FROM.length);
  return key.startsWith(ORDER) ? key.slice(ORDER.length) : key;
}

/** Merges a member whose change is an object or a list. */
function mergeMember(schema: Schema, key: string, current: unknown, change: object, patch: JsonObject): unknown {
  if (!Array.isArray(change)) return mergeObject(schema, isJsonObject(current) ? current : {}, change as JsonObject);
  return mergeList(schema, Array.isArray(current) ? current : undefined, change, ownMember(patch, ORDER + key));
}

function mergeDirective(schema: Schema, key: string, field: string, current: unknown, patch: JsonObject): unknown {
  if (key.startsWith(DELETE_FROM)) return deleteFromPrimitiveList(current, patch[key]);
  // When the patch also contains the list, merging the list applies the order.
  if (Object.hasOwn(patch, field) || !Array.isArray(current)) return current;
  return mergeList(memberSchema(schema, field), current, [], patch[key]);
}

function retainKeys(original: JsonObject, retained: unknown, patch: JsonObject): JsonObject {
  if (!Array.isArray(retained)) throw new StrategicPatchError(400, "invalid patch format of retainKeys");
  const retainedKeys = new Set(retained as string[]);
  for (const key of Object.keys(patch)) {
    if (!key.startsWith("$") && patch[key] !== null && !retainedKeys.has(key))
      throw new StrategicPatchError(422, "the retainKeys list does not contain every key of the patch");
  }
  const result: JsonObject = {};
  for (const key of Object.keys(original)) if (retainedKeys.has(key)) setMember(result, key, original[key]);
  return result;
}

function deleteFromPrimitiveList(current: unknown, values: unknown): unknown {
  if (!Array.isArray(values)) throw new StrategicPatchError(400, "invalid patch format of primitive list");
  if (!Array.isArray(current)) return current;
  if (values.length <= FEW_ELEMENTS) return current.filter((value) => !values.includes(value));
  const removed = new Set<unknown>(values);
  return current.filter((value) => !removed.has(value));
}

/** @param current - `undefined` when the list does not exist yet. */
function mergeList(
  schema: Schema,
  current: readonly unknown[] | undefined,
  patch: readonly unknown[],
  order: unknown,
): readonly unknown[] {
  const merge = schema.type === "list" ? schema.merge : undefined;
  if (schema.type !== "list" || merge === undefined) {
    if (patch.some((item) => Array.isArray(item)))
      throw new StrategicPatchError(422, "lists of lists cannot be merged");
    return patch.map(withoutDirectives);
  }
  if (order !== undefined && !Array.isArray(order))
    throw new StrategicPatchError(400, "invalid patch format of setElementOrder list");
  const given = order as readonly unknown[] | undefined;
  if (merge.mergeKey !== undefined) return mergeByKey(schema, merge.mergeKey, current, patch, given);
  const original = current ?? [];
  return inOrder(mergePrimitives(original, patch), original, patch, given, undefined);
}

function mergePrimitives(original: readonly unknown[], patch: readonly unknown[]): unknown[] {
  return [...new Set([...original, ...patch])];
}

function mergeByKey(
  schema: ListSchema,
  mergeKey: string,
  current: readonly unknown[] | undefined,
  patch: readonly unknown[],
  given: readonly unknown[] | undefined,
): readonly unknown[] {
  let isReplaced = false;
  let hasDirectives = false;
  for (const item of patch) {
    if (!isJsonObject(item)) throw new StrategicPatchError(500, `expected a map in the list merged by ${mergeKey}`);
    const directive = item[DIRECTIVE];
    if (directive === undefined) continue;
    hasDirectives = true;
    if (directive === "replace") isReplaced = true;
  }
  const elements = patch as readonly JsonObject[];
  // A list that is replaced as a whole keeps the order of the patch.
  if (isReplaced) return elements.filter((item) => item[DIRECTIVE] !== "replace").map(withoutDirectives);
  const isNew = current === undefined;
  const original = current ?? [];
  const result = hasDirectives ? withoutDeleted(original, elements, mergeKey) : original.slice();
  const keys: unknown[] = [];
  for (const item of result) keys.push(keyOf(item, mergeKey));
  const places = isNew || patch.length <= FEW_ELEMENTS ? undefined : firstIndexes(keys);
  // True when each element of the patch occurs in the list once, in the same order: the usual case.
  let isInOrder = given === undefined && places === undefined && !hasDirectives;
  let last = -1;
  for (const item of elements) {
    if (hasDirectives && item[DIRECTIVE] === "delete") continue;
    const key = item[mergeKey];
    if (key === undefined) throw noMergeKey(item, mergeKey);
    const at = isNew ? -1 : places === undefined ? keys.indexOf(key) : (places.get(key) ?? -1);
    if (isInOrder && (at <= last || keys.includes(key, at + 1))) isInOrder = false;
    last = at;
    if (at < 0) {
      places?.set(key, result.length);
      keys.push(key);
      result.push(withoutDirectives(item));
    } else result[at] = mergeObject(schema.item, result[at] as JsonObject, item);
  }
  return isInOrder ? result : inOrder(result, original, patch, given, mergeKey);
}

/**
 * Returns the list without the deleted elements. Deletes all of them before any merge, whatever their position in the
 * patch.
 */
function withoutDeleted(list: readonly unknown[], patch: readonly JsonObject[], mergeKey: string): unknown[] {
  const deleted = new Set<unknown>();
  for (const item of patch) {
    const directive = item[DIRECTIVE];
    if (directive !== undefined && directive !== "delete" && directive !== "merge")
      throw unknownDirective(directive, item);
    const key = item[mergeKey];
    if (key === undefined) throw noMergeKey(item, mergeKey);
    if (directive === "delete") deleted.add(key);
  }
  return list.filter((item) => !deleted.has(keyOf(item, mergeKey)));
}

/** Returns the first index of each key. */
function firstIndexes(keys: readonly unknown[]): Map<unknown, number> {
  const places = new Map<unknown, number>();
  keys.forEach((key, index) => {
    if (!places.has(key)) places.set(key, index);
  });
  return places;
}

function noMergeKey(item: JsonObject, mergeKey: string): StrategicPatchError {
  return new StrategicPatchError(500, `map: ${goText(item)} does not contain declared merge key: ${mergeKey}`);
}

/** Sorts the elements that the order names. Other elements keep their place of the original list between them. */
function inOrder(
  merged: readonly unknown[],
  original: readonly unknown[],
  patch: readonly unknown[],
  given: readonly unknown[] | undefined,
  mergeKey: string | undefined,
): readonly unknown[] {
  // Without an explicit order, the order of the patch applies.
  const order = given ?? patch;
  if (order.length === 0) return merged;
  const named = given === undefined ? inPatchOrder(merged, patch, mergeKey) : undefined;
  if (named !== undefined) return named;
  const rank = new Map(order.map((item, index) => [keyOf(item, mergeKey), index]));
  let last = -1;
  for (const item of given === undefined ? [] : patch) {
    if (isJsonObject(item) && item[DIRECTIVE] === "delete") continue;
    const at = rank.get(keyOf(item, mergeKey));
    if (at === undefined || at < last)
      throw new StrategicPatchError(
        500,
        `The order in patch list:\n${goText(patch)}\n doesn't match ${ORDER.slice(0, -1)} list:\n${goText(order)}\n`,
      );
    last = at;
  }
  const place = new Map(original.map((item, index) => [keyOf(item, mergeKey), index]));
  const ordered = merged
    .filter((item) => rank.has(keyOf(item, mergeKey)))
    .sort((a, b) => rank.get(keyOf(a, mergeKey))! - rank.get(keyOf(b, mergeKey))!);
  const others = merged.filter((item) => !rank.has(keyOf(item, mergeKey)));
  const result: unknown[] = [];
  let next = 0;
  for (const item of ordered) {
    const here = place.get(keyOf(item, mergeKey));
    // A new element has no place in the original list and precedes the remaining elements of the server.
    while (here !== undefined && next < others.length && (place.get(keyOf(others[next], mergeKey)) ?? -1) < here)
      result.push(others[next++]);
    result.push(item);
  }
  return [...result, ...others.slice(next)];
}

/**
 * Returns the elements in the order of the patch, if the patch is short and names each element exactly once and nothing
 * else.
 */
function inPatchOrder(
  merged: readonly unknown[],
  patch: readonly unknown[],
  mergeKey: string | undefined,
): readonly unknown[] | undefined {
  if (patch.length > FEW_ELEMENTS || merged.length !== patch.length) return undefined;
  const keys = merged.map((item) => keyOf(item, mergeKey));
  const places = patch.map((item) => keys.indexOf(keyOf(item, mergeKey)));
  if (places.some((place, index) => place < 0 || places.indexOf(place) < index)) return undefined;
  return places.map((place) => merged[place]);
}

/** Returns the merge key of an element: a string or number in stored objects. */
function keyOf(item: unknown, mergeKey: string | undefined): unknown {
  return mergeKey === undefined ? item : isJsonObject(item) ? item[mergeKey] : undefined;
}

function memberSchema(schema: Schema, key: string): Schema {
  if (schema.type === "object") return schema.fields.get(key)?.schema ?? anySchema;
  return schema.type === "map" ? schema.value : anySchema;
}

/** Returns a copy of a value that a patch adds: directives are applied to an empty value, nulls are dropped. */
function withoutDirectives(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value))
    return value.filter((item) => !(isJsonObject(item) && item[DIRECTIVE] === "delete")).map(withoutDirectives);
  const result = copyMembers(value as JsonObject);
  let isComplete = true;
  for (const key of Object.keys(result)) {
    const member = result[key];
    if (member === null || (startsWithDollar(key) && isDirective(key))) {
      setMember(result, key, undefined);
      isComplete = false;
    } else if (typeof member === "object" && !startsWithDollar(key)) setMember(result, key, withoutDirectives(member));
  }
  return isComplete ? result : definedMembers(result);
}

function isDirective(key: string): boolean {
  return key === DIRECTIVE || key === RETAIN_KEYS || key.startsWith(DELETE_FROM) || key.startsWith(ORDER);
}

function unknownDirective(directive: unknown, map: JsonObject): StrategicPatchError {
  return new StrategicPatchError(500, `unknown patch type: ${String(directive)} in map: ${goText(map)}`);
}
