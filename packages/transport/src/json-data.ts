import type { ApiRequest } from "./transport.js";

/** A request body contains a value that JSON cannot hold. The request was not sent. */
export class JsonDataError extends Error {
  override readonly name = "JsonDataError";
}

/** Maximum nesting of objects and lists. Beyond it, `JSON.stringify` and servers may exhaust their stack. */
const MAX_NESTING = 1000;

/** Tags of `new Number(1)` and its like, which JSON sends as the primitive value. */
const BOXED = /^\[object (?:Number|String|Boolean)\]$/;

type Key = string | number;
type Members = Record<string, unknown>;

/**
 * Returns a request body as JSON data, as `JSON.parse(JSON.stringify(value))` does: without members that are
 * `undefined`, and with the result of `toJSON` in place of an object that has this method, such as a `Date`. Every
 * transport calls it, so that a body means the same in process and over HTTP.
 *
 * Parts that are JSON data already are not copied: the result is `value` itself if all of it is.
 *
 * Unlike `JSON.stringify`, it refuses what JSON would drop or replace by `null` without notice: numbers that are not
 * finite, functions, symbols, list elements that are `undefined`, invalid dates, and instances of classes without
 * members, such as a `Map`. In a list, `null` would count as `""`, 0 or `{}` for the API server.
 *
 * @param request - Named in the error.
 * @throws JsonDataError with the request, the path of the value and the fix; also for a bigint, an object that contains
 * itself, and more than 1,000 nested levels.
 */
export function jsonData(value: unknown, request: Pick<ApiRequest, "method" | "path">): unknown {
  const encoder = new Encoder(value, request);
  const data = encoder.data(value);
  if (data === undefined) throw encoder.error("undefined", "pass an object");
  return data;
}

class Encoder {
  readonly #root: unknown;
  readonly #request: Pick<ApiRequest, "method" | "path">;
  /** Keys from the root to the current value. */
  readonly #path: Key[] = [];

  constructor(root: unknown, request: Pick<ApiRequest, "method" | "path">) {
    this.#root = root;
    this.#request = request;
  }

  /** Returns the JSON data of a value; `undefined` for a value to leave out. */
  data(value: unknown): unknown {
    switch (typeof value) {
      case "string":
      case "boolean":
      case "undefined":
        return value;
      case "number":
        if (!Number.isFinite(value)) throw this.error(String(value), "set a finite number or leave the field out");
        // JSON text has no negative zero.
        return value === 0 ? 0 : value;
      case "object":
        if (value === null) return null;
        if (this.#path.length > MAX_NESTING) throw this.#nestingError();
        if (Array.isArray(value)) return this.#list(value);
        return isPlain(value) ? this.#members(value as Members) : this.#instance(value);
      case "bigint":
        throw this.error("a bigint", "convert it to a number or a string");
      default:
        throw this.error(`a ${typeof value}`, "leave the field out");
    }
  }

  error(what: string, fix: string, path: readonly Key[] = this.#path): JsonDataError {
    const { method, path: requestPath } = this.#request;
    return new JsonDataError(
      `${method} ${requestPath.split("?", 1)[0]}: ${pathText(path)} is ${what}, which JSON cannot hold: ${fix}`,
    );
  }

  #members(object: Members): unknown {
    let copy: Members | undefined;
    for (const key in object) {
      const member = object[key];
      // Most members are strings: a shortcut.
      if (typeof member === "string" && copy === undefined) continue;
      if (typeof member === "function" && key === "toJSON") return this.#converted(object);
      this.#path.push(key);
      const data = this.data(member);
      this.#path.pop();
      if (copy === undefined) {
        if (data !== undefined && Object.is(data, member)) continue;
        copy = membersBefore(object, key);
      }
      if (data !== undefined) setMember(copy, key, data);
    }
    return copy ?? object;
  }

  #list(list: readonly unknown[]): unknown {
    let copy: unknown[] | undefined;
    for (let index = 0; index < list.length; index++) {
      const item = list[index];
      this.#path.push(index);
      const data = this.data(item);
      if (data === undefined) throw this.error("undefined", "remove the element from the list");
      this.#path.pop();
      if (copy === undefined && !Object.is(data, item)) copy = list.slice(0, index);
      copy?.push(data);
    }
    return copy ?? list;
  }

  /** Converts an object that is neither a list nor plain. */
  #instance(object: object): unknown {
    if (typeof (object as Members)["toJSON"] === "function") return this.#converted(object);
    if (BOXED.test(Object.prototype.toString.call(object))) return this.data(object.valueOf());
    const members = Object.entries(object);
    if (members.length === 0) throw this.error(`a ${nameOfClass(object)}`, "set a plain object or a list");
    const plain: Members = {};
    for (const [key, member] of members) setMember(plain, key, member);
    return this.#members(plain);
  }

  /** Converts an object with the method `toJSON`, which is called once, also if its result has it too. */
  #converted(object: object): unknown {
    if (object instanceof Date && Number.isNaN(object.getTime()))
      throw this.error("an invalid Date", "set a valid time or leave the field out");
    const result: unknown = (object as { toJSON: (key: string) => unknown }).toJSON(String(this.#path.at(-1) ?? ""));
    if (typeof result !== "object" || result === null || Array.isArray(result)) return this.data(result);
    const members: Members = {};
    for (const [key, member] of Object.entries(result)) if (key !== "toJSON") setMember(members, key, member);
    return this.#members(members);
  }

  #nestingError(): JsonDataError {
    const ancestors = new Set<unknown>();
    let value = this.#root;
    for (const [depth, key] of this.#path.entries()) {
      if (ancestors.has(value))
        return this.error("an object that contains itself", "remove the reference", this.#path.slice(0, depth));
      ancestors.add(value);
      value = (value as Members | undefined)?.[key];
    }
    return this.error(`nested more than ${MAX_NESTING} levels deep`, "flatten the object", this.#path.slice(0, 3));
  }
}

/** Whether the prototype is that of object literals, also those of another realm, or absent. */
function isPlain(object: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(object);
  return prototype === Object.prototype || prototype === null || Object.getPrototypeOf(prototype) === null;
}

function nameOfClass(object: object): string {
  return (object.constructor as { readonly name?: string } | undefined)?.name || "class instance";
}

function membersBefore(object: Members, end: string): Members {
  const copy: Members = {};
  for (const key in object) {
    if (key === end) return copy;
    setMember(copy, key, object[key]);
  }
  return copy;
}

function setMember(object: Members, key: string, value: unknown): void {
  if (key === "__proto__")
    Object.defineProperty(object, key, { value, enumerable: true, configurable: true, writable: true });
  else object[key] = value;
}

/** Formats a path: `spec.containers[0].name`, `metadata.labels["example.com/a"]`. */
function pathText(path: readonly Key[]): string {
  if (path.length === 0) return "the body";
  const text = path
    .map((key) =>
      typeof key === "number" ? `[${key}]` : /^[A-Za-z_$][\w$]*$/.test(key) ? `.${key}` : `[${JSON.stringify(key)}]`,
    )
    .join("");
  return text.startsWith(".") ? text.slice(1) : text;
}
