import { mutableCopy } from "@kubewright/api";

import { type JsonObject, isJsonObject, jsonEqual, setMember } from "../json.js";
import { MAX_NESTING, TOO_DEEP, isNestedDeeper } from "../nesting.js";

/** The patch cannot be applied: a test failed, a path is missing, or an operation is unknown. */
export class JsonPatchError extends Error {
  override readonly name = "JsonPatchError";
}

interface Operation {
  readonly op: string;
  readonly path: string;
  readonly from?: unknown;
  readonly value?: unknown;
}

/**
 * Maximum number of characters that all copy operations of a patch may add. Upstream: 3 MiB (`JSONPatchMaxCopyBytes`).
 */
const MAX_COPIED_CHARACTERS = 3 * 1024 * 1024;

/**
 * Applies a JSON Patch (RFC 6902). Changes neither argument. The result shares unchanged parts with both.
 *
 * @param operations - No value may be nested deeper than {@link MAX_NESTING}.
 * @throws JsonPatchError, also when the result is nested deeper than {@link MAX_NESTING}.
 */
export function jsonPatch(original: unknown, operations: readonly unknown[]): unknown {
  const draft = new Draft(original);
  for (const item of operations) draft.apply(readOperation(item));
  // Repeated moves of short values into each other can nest as deep as there are operations.
  if (isNestedDeeper(draft.document)) throw new JsonPatchError(TOO_DEEP);
  return draft.document;
}

/** The document during patching. Copies each container of the original once, before its first change. */
class Draft {
  document: unknown;
  readonly #own = new WeakSet<object>();
  #copied = 0;

  constructor(original: unknown) {
    this.document = original;
  }

  apply(operation: Operation): void {
    const path = pointer(operation.path);
    switch (operation.op) {
      case "add":
        this.#edit(path, (parent, key) => insert(parent, key, operation.value ?? null));
        break;
      case "replace":
        this.#edit(path, (parent, key) => replace(parent, key, operation.value ?? null));
        break;
      case "remove":
        this.#edit(path, remove);
        break;
      case "move": {
        const from = pointer(operation.from);
        const value = read(this.document, from);
        this.#edit(from, remove);
        this.#edit(path, (parent, key) => insert(parent, key, value));
        break;
      }
      case "copy": {
        const value = this.#copy(read(this.document, pointer(operation.from)));
        this.#edit(path, (parent, key) => insert(parent, key, value));
        break;
      }
      case "test": {
        const expected = operation.value ?? null;
        const actual = readOrUndefined(this.document, path) ?? null;
        if (!jsonEqual(actual, expected)) throw new JsonPatchError(`testing value ${operation.path} failed`);
        break;
      }
      default:
        throw new JsonPatchError(`unexpected kind: ${operation.op}`);
    }
  }

  /** Counts the copied characters: a few operations that copy copies could create a document of any size. */
  #copy(value: unknown): unknown {
    if (isNestedDeeper(value)) throw new JsonPatchError(TOO_DEEP);
    this.#copied += JSON.stringify(value).length;
    if (this.#copied > MAX_COPIED_CHARACTERS)
      throw new JsonPatchError(
        `Unable to complete the copy, the accumulated size increase of copying is ${this.#copied}, exceeding the limit ${MAX_COPIED_CHARACTERS}`,
      );
    return mutableCopy(value);
  }

  #edit(path: readonly string[], change: Edit): void {
    if (path.length === 0) {
      const holder: JsonObject = { root: this.document };
      change(holder, "root");
      this.document = holder["root"];
    } else this.document = this.#editAt(this.document, path, 0, change);
  }

  #editAt(node: unknown, path: readonly string[], depth: number, change: Edit): unknown {
    const key = path[depth]!;
    const own = this.#owned(node);
    if (own === undefined) throw missing(path);
    if (depth === path.length - 1) {
      change(own, key);
    } else if (Array.isArray(own)) {
      const index = arrayIndex(own, key, own.length - 1);
      own[index] = this.#editAt(own[index], path, depth + 1, change);
    } else {
      if (!Object.hasOwn(own, key)) throw missing(path);
      setMember(own, key, this.#editAt(own[key], path, depth + 1, change));
    }
    return own;
  }

  /** Returns the container if this draft owns it, else a copy. */
  #owned(node: unknown): JsonObject | unknown[] | undefined {
    if (!Array.isArray(node) && !isJsonObject(node)) return undefined;
    if (this.#own.has(node)) return node;
    const copy = Array.isArray(node) ? [...(node as unknown[])] : { ...node };
    this.#own.add(copy);
    return copy;
  }
}

function readOperation(item: unknown): Operation {
  if (!isJsonObject(item) || typeof item["op"] !== "string" || typeof item["path"] !== "string")
    throw new JsonPatchError("an operation needs op and path");
  return item as unknown as Operation;
}

function pointer(text: unknown): string[] {
  if (typeof text !== "string") throw new JsonPatchError("the operation needs from");
  // Text before the first slash is ignored, as in upstream's library.
  const parts = text.split("/").slice(1);
  if (parts.length > MAX_NESTING) throw new JsonPatchError(TOO_DEEP);
  return parts.map((part) => part.replaceAll("~1", "/").replaceAll("~0", "~"));
}

type Edit = (parent: JsonObject | unknown[], key: string) => void;

function insert(parent: JsonObject | unknown[], key: string, value: unknown): void {
  if (Array.isArray(parent))
    parent.splice(key === "-" ? parent.length : arrayIndex(parent, key, parent.length), 0, value);
  else setMember(parent, key, value);
}

function replace(parent: JsonObject | unknown[], key: string, value: unknown): void {
  if (Array.isArray(parent)) parent[arrayIndex(parent, key, parent.length - 1)] = value;
  // Upstream's library treats a missing member as null.
  else setMember(parent, key, value);
}

function remove(parent: JsonObject | unknown[], key: string): void {
  if (Array.isArray(parent)) parent.splice(arrayIndex(parent, key, parent.length - 1), 1);
  else if (Object.hasOwn(parent, key)) delete parent[key];
  else throw missing([key]);
}

function read(document: unknown, path: readonly string[]): unknown {
  const value = readOrUndefined(document, path);
  if (value === undefined) throw missing(path);
  return value;
}

function readOrUndefined(document: unknown, path: readonly string[]): unknown {
  let node = document;
  for (const key of path) {
    if (Array.isArray(node)) node = node[arrayIndex(node, key, node.length - 1)];
    else if (isJsonObject(node) && Object.hasOwn(node, key)) node = node[key];
    else return undefined;
  }
  return node;
}

/** Negative indexes count from the end, as in upstream's library. */
function arrayIndex(array: readonly unknown[], key: string, max: number): number {
  if (!/^-?(0|[1-9]\d*)$/.test(key)) throw new JsonPatchError(`${key} is no array index`);
  const index = Number(key) < 0 ? Number(key) + array.length : Number(key);
  if (index < 0 || index > max) throw new JsonPatchError(`index ${key} is out of bounds`);
  return index;
}

function missing(path: readonly string[]): JsonPatchError {
  return new JsonPatchError(`missing path /${path.join("/")}`);
}
