import { type JsonObject, goText, isJsonObject, jsonEqual, ownMember, setMember } from "../json.js";
import type { ListSchema, MapSchema, ObjectSchema, Schema } from "../schema/schema.js";
import { EMPTY_FIELDS, FieldSet, LEAF } from "./field-set.js";

/** Fields in which two versions of an object differ. */
export interface Comparison {
  readonly added: FieldSet;
  readonly modified: FieldSet;
  readonly removed: FieldSet;
}

const NOTHING: Comparison = { added: EMPTY_FIELDS, modified: EMPTY_FIELDS, removed: EMPTY_FIELDS };

/** Upstream: structured-merge-diff `typed.TypedValue.Compare`. */
export function compareTyped(schema: Schema | undefined, before: unknown, after: unknown): Comparison {
  if (before === after) return NOTHING;
  if (before === undefined) return { ...NOTHING, added: fieldsAtEveryLevel(schema, after) };
  if (after === undefined) return { ...NOTHING, removed: fieldsAtEveryLevel(schema, before) };
  if (
    schema !== undefined &&
    schema.type !== "list" &&
    !isAtomic(schema) &&
    isJsonObject(before) &&
    isJsonObject(after)
  )
    return compareMembers(schema, before, after);
  if (jsonEqual(before, after)) return NOTHING;
  const members = isAtomic(schema) ? undefined : memberPairs(schema, before, after);
  if (members === undefined) return { ...NOTHING, modified: LEAF };
  const [added, modified, removed] = [
    new Map<string, FieldSet>(),
    new Map<string, FieldSet>(),
    new Map<string, FieldSet>(),
  ];
  for (const [edge, { schema: memberSchema, before: old, after: now }] of members) {
    const compared = compareTyped(memberSchema, old, now);
    if (!compared.added.isEmpty) added.set(edge, compared.added);
    if (!compared.modified.isEmpty) modified.set(edge, compared.modified);
    if (!compared.removed.isEmpty) removed.set(edge, compared.removed);
  }
  return { added: asSet(added), modified: asSet(modified), removed: asSet(removed) };
}

/** Compares objects whose members are mostly equal: allocates nothing for equal members. */
function compareMembers(schema: Schema, before: JsonObject, after: JsonObject): Comparison {
  let added: Map<string, FieldSet> | undefined;
  let modified: Map<string, FieldSet> | undefined;
  let removed: Map<string, FieldSet> | undefined;
  const note = (key: string, compared: Comparison): void => {
    const edge = `f:${key}`;
    if (!compared.added.isEmpty) (added ??= new Map()).set(edge, compared.added);
    if (!compared.modified.isEmpty) (modified ??= new Map()).set(edge, compared.modified);
    if (!compared.removed.isEmpty) (removed ??= new Map()).set(edge, compared.removed);
  };
  for (const key of Object.keys(before)) {
    const old = before[key];
    const now = ownMember(after, key);
    if (old === now) continue;
    const compared = compareTyped(memberSchema(schema, key), old, now);
    if (compared !== NOTHING) note(key, compared);
  }
  for (const key of Object.keys(after)) {
    if (ownMember(before, key) !== undefined || after[key] === undefined) continue;
    note(key, compareTyped(memberSchema(schema, key), undefined, after[key]));
  }
  if (added === undefined && modified === undefined && removed === undefined) return NOTHING;
  return {
    added: asSet(added ?? new Map()),
    modified: asSet(modified ?? new Map()),
    removed: asSet(removed ?? new Map()),
  };
}

function asSet(children: Map<string, FieldSet>): FieldSet {
  return children.size === 0 ? EMPTY_FIELDS : new FieldSet(false, children);
}

/** Returns the field and all fields below it: those added or removed together with a whole value. */
function fieldsAtEveryLevel(schema: Schema | undefined, value: unknown): FieldSet {
  if (isAtomic(schema)) return LEAF;
  const children = new Map<string, FieldSet>();
  for (const [edge, member] of membersOf(schema, value) ?? [])
    children.set(edge, fieldsAtEveryLevel(member.schema, member.value));
  return new FieldSet(true, children);
}

/** Returns the fields that an applied configuration contains. Upstream: `typed.TypedValue.ToFieldSet`. */
export function fieldsOf(schema: Schema | undefined, value: unknown): FieldSet {
  if (isAtomic(schema)) return LEAF;
  const members = membersOf(schema, value);
  if (members === undefined) return LEAF;
  const children = new Map<string, FieldSet>();
  for (const [edge, member] of members) {
    let set = fieldsOf(member.schema, member.value);
    const empty = member.value === null || (isJsonObject(member.value) && Object.keys(member.value).length === 0);
    // List elements and map entries are owned themselves; struct members only through their content.
    if (schema?.type !== "object" || empty) set = new FieldSet(true, set.children);
    if (!set.isEmpty) children.set(edge, set);
  }
  return asSet(children);
}

/** Merges an applied configuration into an object. The result shares with both. Upstream: `typed.TypedValue.Merge`. */
export function mergeTyped(schema: Schema | undefined, live: unknown, applied: unknown): unknown {
  if (live === undefined || isAtomic(schema)) return applied;
  if (schema?.type === "list") {
    if (!Array.isArray(live) || !Array.isArray(applied)) return applied;
    return mergeLists(schema, live, applied);
  }
  if (!isJsonObject(live) || !isJsonObject(applied)) return applied;
  const result: JsonObject = { ...live };
  for (const key of Object.keys(applied))
    setMember(result, key, mergeTyped(memberSchema(schema, key), ownMember(live, key), applied[key]));
  return result;
}

function mergeLists(schema: ListSchema, live: readonly unknown[], applied: readonly unknown[]): unknown[] {
  const edges = new Map(applied.map((item) => [edgeOf(schema, item), item]));
  const current = new Map(live.map((item) => [edgeOf(schema, item), item]));
  const result: unknown[] = [];
  let next = 0;
  const takeOthers = (): void => {
    while (next < live.length && !edges.has(edgeOf(schema, live[next]))) result.push(live[next++]);
  };
  for (const [edge, item] of edges) {
    takeOthers();
    result.push(mergeTyped(schema.item, current.get(edge), item));
    if (next < live.length) next++;
  }
  for (; next < live.length; next++) if (!edges.has(edgeOf(schema, live[next]))) result.push(live[next]);
  return result;
}

/**
 * Returns the value without the fields in `removed`, unless `retained` contains them or a field below them. Shares with
 * the value.
 */
export function removeFields(
  schema: Schema | undefined,
  value: unknown,
  removed: FieldSet,
  retained: FieldSet,
): unknown {
  if (isAtomic(schema)) return value;
  if (schema?.type === "list") {
    if (!Array.isArray(value)) return value;
    return value.flatMap((item: unknown) => {
      const edge = edgeOf(schema, item);
      const set = removed.child(edge);
      if (set === undefined) return [item];
      const keep = retained.child(edge);
      if (set.member && keep === undefined) return [];
      return [removeFields(schema.item, item, set, keep ?? EMPTY_FIELDS)];
    });
  }
  if (!isJsonObject(value)) return value;
  const result: JsonObject = { ...value };
  for (const [edge, set] of removed.children) {
    const key = edge.slice(2);
    if (!edge.startsWith("f:") || !Object.hasOwn(result, key)) continue;
    const keep = retained.child(edge);
    if (set.member && keep === undefined) delete result[key];
    else setMember(result, key, removeFields(memberSchema(schema, key), result[key], set, keep ?? EMPTY_FIELDS));
  }
  return result;
}

/** Whether the value has one owner: scalars, atomic lists and maps, and values without a schema. */
export function isAtomic(schema: Schema | undefined): boolean {
  if (schema === undefined) return true;
  switch (schema.type) {
    case "object":
    case "map":
      return schema.atomic;
    case "list":
      return schema.listType === "atomic";
    default:
      return true;
  }
}

interface Member {
  readonly schema: Schema | undefined;
  readonly value: unknown;
}

function membersOf(schema: Schema | undefined, value: unknown): Map<string, Member> | undefined {
  const members = new Map<string, Member>();
  if (schema?.type === "list") {
    if (!Array.isArray(value)) return undefined;
    for (const item of value as unknown[]) members.set(edgeOf(schema, item), { schema: schema.item, value: item });
    return members;
  }
  if (!isJsonObject(value)) return undefined;
  for (const key of Object.keys(value))
    if (value[key] !== undefined) members.set(`f:${key}`, { schema: memberSchema(schema, key), value: value[key] });
  return members;
}

function memberPairs(
  schema: Schema | undefined,
  before: unknown,
  after: unknown,
): Map<string, { schema: Schema | undefined; before: unknown; after: unknown }> | undefined {
  const old = membersOf(schema, before ?? emptyOf(schema));
  const now = membersOf(schema, after ?? emptyOf(schema));
  if (old === undefined || now === undefined) return undefined;
  const all = new Map<string, { schema: Schema | undefined; before: unknown; after: unknown }>();
  for (const [edge, member] of old)
    all.set(edge, { schema: member.schema, before: member.value, after: now.get(edge)?.value });
  for (const [edge, member] of now)
    if (!all.has(edge)) all.set(edge, { schema: member.schema, before: undefined, after: member.value });
  return all;
}

/** A null list or map exists, but has no elements. */
function emptyOf(schema: Schema | undefined): unknown {
  return schema?.type === "list" ? [] : {};
}

/** Returns the schema of a member, if it is declared. */
export function memberSchema(schema: Schema | undefined, key: string): Schema | undefined {
  if (schema?.type === "object") return schema.fields.get(key)?.schema;
  if (schema?.type === "map") return schema.value;
  return undefined;
}

/** Returns the edge of a list element: `k:{"name":"a"}` or `v:"a"`. */
export function edgeOf(schema: ListSchema, item: unknown): string {
  if (schema.listType === "set") return `v:${JSON.stringify(item)}`;
  const keys: JsonObject = {};
  for (const key of [...schema.keys].sort()) {
    const value = (isJsonObject(item) ? ownMember(item, key) : undefined) ?? keyDefault(schema, key);
    if (value !== undefined) keys[key] = value;
  }
  return `k:${JSON.stringify(keys)}`;
}

/** Returns the default of an omitted key. A required key defaults to Go's zero value. */
function keyDefault(schema: ListSchema, key: string): unknown {
  const known = schema.keyDefaults?.[key];
  if (known !== undefined || schema.item.type !== "object") return known;
  const field = schema.item.fields.get(key);
  if (field?.required !== true || field.schema.type !== "scalar") return undefined;
  return field.schema.scalar === "string" ? "" : 0;
}

/** Returns the errors of an applied configuration. Upstream: `typed.AsTyped` with `validate`. */
export function typeErrors(schema: Schema, value: unknown, path = ""): string[] {
  if (value === null) return [];
  switch (schema.type) {
    case "any":
      return [];
    case "scalar":
      return scalarErrors(schema.scalar, value, path);
    case "object":
    case "map":
      return memberErrors(schema, value, path);
    case "list":
      return listErrors(schema, value, path);
    default:
      return schema satisfies never;
  }
}

function scalarErrors(scalar: string, value: unknown, path: string): string[] {
  const type = Array.isArray(value) ? "list" : isJsonObject(value) ? "map" : typeof value;
  switch (scalar) {
    case "int32":
    case "int64":
    case "double":
      return type === "number" ? [] : [`${path}: expected numeric (int or float), got ${type}`];
    case "boolean":
      return type === "boolean" ? [] : [`${path}: expected boolean, got ${type}`];
    case "intOrString":
    case "quantity":
      return type === "number" || type === "string" ? [] : [`${path}: expected string or number, got ${type}`];
    default:
      return type === "string"
        ? []
        : [`${path}: expected string, got &value.valueUnstructured{Value:${String(value)}}`];
  }
}

function memberErrors(schema: ObjectSchema | MapSchema, value: unknown, path: string): string[] {
  if (!isJsonObject(value)) return [`${path}: expected map, got &{${goText(value)}}`];
  return Object.keys(value).flatMap((key) => {
    const member = memberSchema(schema, key);
    if (member !== undefined) return typeErrors(member, value[key], `${path}.${key}`);
    return schema.type === "object" && schema.preservesUnknown === true
      ? []
      : [`${path}.${key}: field not declared in schema`];
  });
}

function listErrors(schema: ListSchema, value: unknown, path: string): string[] {
  if (!Array.isArray(value)) return [`${path}: expected list, got &{${goText(value)}}`];
  const seen = new Set<string>();
  return (value as unknown[]).flatMap((item, index) => {
    if (schema.listType === "atomic") return typeErrors(schema.item, item, `${path}[${index}]`);
    if (schema.listType === "map") {
      const missing = schema.keys.filter(
        (key) => isJsonObject(item) && ownMember(item, key) === undefined && keyDefault(schema, key) === undefined,
      );
      if (missing.length === schema.keys.length) {
        const keys = schema.keys.map((key) => JSON.stringify(key)).join(" ");
        return [
          `${path}: element ${index}: associative list with keys has an element that omits all key fields [${keys}] (and doesn't have default values for any key fields)`,
        ];
      }
    }
    const edge = edgeOf(schema, item);
    const text = new FieldSet(false, new Map([[edge, LEAF]])).paths().join("");
    if (seen.has(edge)) return [`${path}: duplicate entries for key ${text}`];
    seen.add(edge);
    return typeErrors(schema.item, item, `${path}${text}`);
  });
}
