import { type JsonObject, copyMembers, isJsonObject, jsonEqual, ownMember, setMember } from "../json.js";
import type { ListSchema, Schema } from "../schema/schema.js";

/** The patch cannot be applied. `code` is what the request is answered with. */
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

/**
 * Strategic merge patch: like a merge patch, except that lists whose schema says so merge by key or as sets, and that
 * directives in the patch replace, delete, order and retain. Changes neither argument; the result shares with both what it
 * took over whole.
 *
 * Upstream: apimachinery `strategicpatch.StrategicMergePatch`.
 *
 * @throws StrategicPatchError
 */
export function strategicMergePatch(schema: Schema, original: JsonObject, patch: JsonObject): JsonObject {
  return mergeObject(schema, original, patch) ?? {};
}

/** `undefined`: the patch deletes the object. */
function mergeObject(schema: Schema, original: JsonObject, patch: JsonObject): JsonObject | undefined {
  const directive = patch[DIRECTIVE];
  if (directive === "delete") return {};
  if (directive === "replace") return withoutDirectives(patch) as JsonObject;
  if (directive !== undefined && directive !== "merge") throw unknownDirective(directive, patch);
  const result = copyMembers(original);
  const retained = patch[RETAIN_KEYS];
  if (retained !== undefined) retainKeys(result, retained, patch);
  for (const key of Object.keys(patch)) {
    const isSpecial = key.startsWith("$");
    if (isSpecial && (key === DIRECTIVE || key === RETAIN_KEYS)) continue;
    if (isSpecial && key.startsWith(DELETE_FROM)) {
      deleteFromPrimitiveList(result, key.slice(DELETE_FROM.length), patch[key]);
      continue;
    }
    if (isSpecial && key.startsWith(ORDER)) {
      const field = key.slice(ORDER.length);
      // With the list itself in the patch, the order is applied when that is merged.
      if (!Object.hasOwn(patch, field) && Array.isArray(result[field]))
        setMember(result, field, mergeList(memberSchema(schema, field), result[field] as unknown[], [], patch[key]));
      continue;
    }
    const change = patch[key];
    if (change === null) {
      delete result[key];
      continue;
    }
    const member = memberSchema(schema, key);
    const current = ownMember(result, key);
    if (isJsonObject(change)) {
      const merged = mergeObject(member, isJsonObject(current) ? current : {}, change);
      setMember(result, key, isJsonObject(current) ? merged : withoutDirectives(merged));
    } else if (Array.isArray(change)) {
      setMember(
        result,
        key,
        mergeList(
          member,
          Array.isArray(current) ? current : [],
          change,
          ownMember(patch, ORDER + key),
          !Array.isArray(current),
        ),
      );
    } else {
      setMember(result, key, change);
    }
  }
  return result;
}

function retainKeys(result: JsonObject, retained: unknown, patch: JsonObject): void {
  if (!Array.isArray(retained)) throw new StrategicPatchError(400, "invalid patch format of retainKeys");
  const kept = new Set(retained as string[]);
  for (const key of Object.keys(patch)) {
    if (!key.startsWith("$") && patch[key] !== null && !kept.has(key))
      throw new StrategicPatchError(422, "the retainKeys list does not contain every key of the patch");
  }
  for (const key of Object.keys(result)) if (!kept.has(key)) delete result[key];
}

function deleteFromPrimitiveList(result: JsonObject, field: string, values: unknown): void {
  if (!Array.isArray(values)) throw new StrategicPatchError(400, "invalid patch format of primitive list");
  const current = ownMember(result, field);
  if (!Array.isArray(current)) return;
  const removed = new Set<unknown>(values);
  setMember(
    result,
    field,
    current.filter((value) => !removed.has(value)),
  );
}

function mergeList(
  schema: Schema | undefined,
  original: readonly unknown[],
  patch: readonly unknown[],
  order: unknown,
  isNew = false,
): unknown[] {
  const merge = schema?.type === "list" ? schema.merge : undefined;
  if (schema?.type !== "list" || merge === undefined) {
    if (patch.some((item) => Array.isArray(item)))
      throw new StrategicPatchError(422, "lists of lists cannot be merged");
    return patch.map(withoutDirectives);
  }
  if (order !== undefined && !Array.isArray(order))
    throw new StrategicPatchError(400, "invalid patch format of setElementOrder list");
  const merged =
    merge.mergeKey === undefined
      ? mergePrimitives(original, patch)
      : mergeByKey(schema, merge.mergeKey, original, patch, isNew);
  return inOrder(merged, original, patch, order as unknown[] | undefined, merge.mergeKey);
}

function mergePrimitives(original: readonly unknown[], patch: readonly unknown[]): unknown[] {
  return [...new Set([...original, ...patch])];
}

function mergeByKey(
  schema: ListSchema,
  mergeKey: string,
  original: readonly unknown[],
  patch: readonly unknown[],
  isNew: boolean,
): unknown[] {
  const elements = patch.map((item) => {
    if (!isJsonObject(item)) throw new StrategicPatchError(500, `expected a map in the list merged by ${mergeKey}`);
    return item;
  });
  // A list that is replaced whole keeps the order it is given in.
  if (elements.some((item) => item[DIRECTIVE] === "replace")) {
    return elements.filter((item) => item[DIRECTIVE] !== "replace").map(withoutDirectives);
  }
  let result = [...original];
  for (const item of elements) {
    const directive = item[DIRECTIVE];
    if (directive !== undefined && directive !== "delete" && directive !== "merge")
      throw unknownDirective(directive, item);
    const key = item[mergeKey];
    if (key === undefined)
      throw new StrategicPatchError(500, `map: ${goText(item)} does not contain declared merge key: ${mergeKey}`);
    if (directive === "delete") {
      result = result.filter((candidate) => !hasKey(candidate, mergeKey, key));
      continue;
    }
    const index = isNew ? -1 : result.findIndex((candidate) => hasKey(candidate, mergeKey, key));
    if (index < 0) result.push(withoutDirectives(item));
    else result[index] = mergeObject(schema.item, result[index] as JsonObject, item) ?? {};
  }
  return result;
}

/**
 * Puts the elements that the order names into that order, and the others between them by where they stand in the original
 * list.
 */
function inOrder(
  merged: unknown[],
  original: readonly unknown[],
  patch: readonly unknown[],
  given: readonly unknown[] | undefined,
  mergeKey: string | undefined,
): unknown[] {
  // A patch that gives no order means its own.
  const order = given ?? patch;
  if (order.length === 0) return merged;
  const keyOf = (item: unknown): unknown =>
    mergeKey === undefined ? item : isJsonObject(item) ? item[mergeKey] : undefined;
  if (given === undefined && isInOrder(patch, original, keyOf)) return merged;
  const rank = new Map(order.map((item, index) => [keyOf(item), index]));
  let last = -1;
  for (const item of given === undefined ? [] : patch) {
    if (isJsonObject(item) && item[DIRECTIVE] === "delete") continue;
    const at = rank.get(keyOf(item));
    if (at === undefined || at < last)
      throw new StrategicPatchError(
        500,
        `The order in patch list:\n${goText(patch)}\n doesn't match ${ORDER.slice(0, -1)} list:\n${goText(order)}\n`,
      );
    last = at;
  }
  const place = new Map(original.map((item, index) => [keyOf(item), index]));
  const ordered = merged
    .filter((item) => rank.has(keyOf(item)))
    .sort((a, b) => rank.get(keyOf(a))! - rank.get(keyOf(b))!);
  const others = merged.filter((item) => !rank.has(keyOf(item)));
  const result: unknown[] = [];
  let next = 0;
  for (const item of ordered) {
    const here = place.get(keyOf(item));
    // An element that is new has no place of its own, and goes before what is left of the server's.
    while (here !== undefined && next < others.length && (place.get(keyOf(others[next])) ?? -1) < here)
      result.push(others[next++]);
    result.push(item);
  }
  return [...result, ...others.slice(next)];
}

/**
 * Whether each of the patch's elements is in the original list, once, and behind the one before it: the usual case. Says no
 * to long patches without looking.
 */
function isInOrder(
  patch: readonly unknown[],
  original: readonly unknown[],
  keyOf: (item: unknown) => unknown,
): boolean {
  if (patch.length > FEW_ELEMENTS) return false;
  let last = -1;
  for (const item of patch) {
    const key = keyOf(item);
    let at = -1;
    for (let index = 0; index < original.length; index++) {
      if (keyOf(original[index]) !== key) continue;
      if (at >= 0) return false;
      at = index;
    }
    if (at <= last) return false;
    last = at;
  }
  return true;
}

function hasKey(candidate: unknown, mergeKey: string, key: unknown): boolean {
  return isJsonObject(candidate) && jsonEqual(candidate[mergeKey], key);
}

function memberSchema(schema: Schema, key: string): Schema {
  if (schema.type === "object") return schema.fields.get(key)?.schema ?? { type: "any" };
  if (schema.type === "map") return schema.value;
  return { type: "any" };
}

/** What a patch adds anew: directives carried out against nothing, nulls dropped. */
function withoutDirectives(value: unknown): unknown {
  if (Array.isArray(value))
    return value.filter((item) => !(isJsonObject(item) && item[DIRECTIVE] === "delete")).map(withoutDirectives);
  if (!isJsonObject(value)) return value;
  const result = copyMembers(value);
  for (const key of Object.keys(value)) {
    const member = value[key];
    if (member === null || key.startsWith("$")) {
      if (member === null || isDirective(key)) delete result[key];
    } else if (typeof member === "object") setMember(result, key, withoutDirectives(member));
  }
  return result;
}

function isDirective(key: string): boolean {
  return key === DIRECTIVE || key === RETAIN_KEYS || key.startsWith(DELETE_FROM) || key.startsWith(ORDER);
}

function unknownDirective(directive: unknown, map: JsonObject): StrategicPatchError {
  return new StrategicPatchError(500, `unknown patch type: ${String(directive)} in map: ${goText(map)}`);
}

/** A value as Go prints it: `map[a:1 b:[x y]]`. */
export function goText(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(goText).join(" ")}]`;
  if (isJsonObject(value)) {
    const members = Object.keys(value)
      .sort()
      .map((key) => `${key}:${goText(value[key])}`);
    return `map[${members.join(" ")}]`;
  }
  return value === null || value === undefined ? "<nil>" : `${value as string | number | boolean}`;
}
