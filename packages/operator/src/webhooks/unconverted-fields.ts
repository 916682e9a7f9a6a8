import { isDeepStrictEqual } from "node:util";

/** A field of a stored object that does not survive the conversion to another version and back. */
export interface UnconvertedField {
  /** Names of fields, from the root of the object. A list counts as one value. */
  readonly path: readonly string[];
  /** Value in the stored object. Absent: the field is absent there. */
  readonly stored?: unknown;
  /** Value after the conversion back. Absent: the field is absent then. */
  readonly back?: unknown;
}

type JsonObject = Readonly<Record<string, unknown>>;

/** Members that a conversion does not change, or changes on purpose. */
const IGNORED: ReadonlySet<string> = new Set(["apiVersion", "kind", "metadata"]);

/** Returns the fields that differ between a stored object and its conversion back. */
export function unconvertedFields(stored: object, back: object): UnconvertedField[] {
  const found: UnconvertedField[] = [];
  const compare = (one: JsonObject, other: JsonObject, path: readonly string[]): void => {
    for (const name of new Set([...Object.keys(one), ...Object.keys(other)])) {
      if (path.length === 0 && IGNORED.has(name)) continue;
      const [a, b] = [one[name], other[name]];
      const at = [...path, name];
      if (isObject(a) && isObject(b)) compare(a, b, at);
      else if (!isDeepStrictEqual(a, b))
        found.push({ path: at, ...(a === undefined ? {} : { stored: a }), ...(b === undefined ? {} : { back: b }) });
    }
  };
  compare(asJson(stored), asJson(back), []);
  return found;
}

/**
 * Sets the fields to their stored values, in an object that was converted back. A field that a client has changed in the
 * other version keeps its new value: its value differs from `back`, or its parent is absent.
 */
export function withUnconvertedFields<T extends object>(converted: T, fields: readonly UnconvertedField[]): T {
  if (fields.length === 0) return converted;
  const result = asJson(converted);
  for (const { path, stored, back } of fields) {
    const name = path.at(-1)!;
    const parent = path.slice(0, -1).reduce<unknown>(memberOf, result);
    if (!isObject(parent) || IGNORED.has(path[0]!) || !isDeepStrictEqual(memberOf(parent, name), back)) continue;
    if (stored === undefined) delete parent[name];
    else Object.defineProperty(parent, name, { value: stored, enumerable: true, configurable: true, writable: true });
  }
  return result as T;
}

/**
 * Parses the fields that an annotation contains.
 *
 * @param path - Path of the annotation in messages.
 * @throws Error when a client has changed the annotation to something else.
 */
export function parseUnconvertedFields(text: string, path: string): readonly UnconvertedField[] {
  let fields: unknown;
  try {
    fields = JSON.parse(text);
  } catch {
    fields = undefined;
  }
  const isField = (field: unknown): field is UnconvertedField =>
    isObject(field) &&
    Array.isArray(field["path"]) &&
    field["path"].length > 0 &&
    field["path"].every((name) => typeof name === "string");
  if (!Array.isArray(fields) || !fields.every(isField)) throw new Error(`${path} is no conversion data: remove it`);
  return fields;
}

function memberOf(value: unknown, name: string): unknown {
  return isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** A copy as it is sent: without fields that are undefined. */
function asJson(value: object): Record<string, unknown> {
  return JSON.parse(JSON.stringify(value)) as Record<string, unknown>;
}
