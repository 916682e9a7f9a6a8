import { ByteBuffer } from "./byte-buffer.js";
import { limits, tooLongError } from "./limits.js";

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const BACKSLASH = 0x5c;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
/** Longer than `items` in quotes with every letter escaped. */
const MAX_NAME_LENGTH = 40;
/** The bit that differs between a bracket and a brace. */
const BRACE_BIT = 0x20;

/**
 * Reads a JSON document with a long top-level array `items` from UTF-8 chunks, and maps each item as soon as it is
 * complete. Memory never holds the whole text, nor the unmapped items.
 *
 * The objects in `items` are parsed one by one. The rest of the document is parsed at the end, with `{}` in place of
 * each item. An object can replace another in any JSON document, so the document is valid JSON exactly if all parts
 * are.
 */
export class ListReader {
  readonly #parse: (text: string) => unknown;
  readonly #mapItem: (item: unknown) => unknown;
  readonly #decoder = new TextDecoder();
  readonly #restDecoder = new TextDecoder();
  /** Results of `mapItem` for the objects in `items` so far. */
  #items: unknown[] = [];
  #rest = "";
  /** Number of open brackets and braces: within the current item, or in the rest of the document. */
  #depth = 0;
  #inItem = false;
  /** The bytes of the current item from earlier chunks. */
  readonly #item = new ByteBuffer(limits.item, () => tooLongError("an item of the list", limits.item));
  #inString = false;
  /** Whether the last byte was a backslash that escapes the next one. */
  #escaped = false;
  /** Whether the position is inside the `items` array, between two items. */
  #inItemsArray = false;
  /**
   * At the top level: whether a member name comes before the next colon, and the last name as spelled, quotes included.
   */
  #expectsName = true;
  #name = "";

  /**
   * @param parse - Parses JSON text, such as `JSON.parse`.
   * @param mapItem - Called with each item. Its result replaces the item.
   */
  constructor(parse: (text: string) => unknown, mapItem: (item: unknown) => unknown) {
    this.#parse = parse;
    this.#mapItem = mapItem;
  }

  /** @throws the errors of `parse` and `mapItem`, and Error if an item, or the rest of the document, is too long. */
  push(chunk: Uint8Array): void {
    for (let from = 0; from < chunk.length;) {
      const inItem = this.#inItem;
      const to = inItem ? this.#findItemEnd(chunk, from) : this.#findItem(chunk, from);
      const part = chunk.subarray(from, to);
      if (!inItem) this.#appendRest(part);
      else if (this.#inItem) this.#item.append(part);
      else this.#finishItem(part);
      from = to;
    }
  }

  /** Returns the whole document with the mapped items. @throws the error of `parse` if the document is not JSON. */
  end(): unknown {
    const document = this.#parse(this.#rest + this.#restDecoder.decode());
    const items = isObject(document) ? document["items"] : undefined;
    if (!Array.isArray(items)) return document;
    let objects = 0;
    for (let index = 0; index < items.length; index++)
      items[index] = isObject(items[index]) ? this.#items[objects++] : this.#mapItem(items[index]);
    return document;
  }

  /**
   * Scans the rest of the document up to the brace that opens an item. Returns the index of that brace, or the chunk's
   * length.
   */
  #findItem(chunk: Uint8Array, from: number): number {
    for (let at = from; at < chunk.length; at++) {
      const byte = chunk[at]!;
      const isTop = this.#depth === 1;
      if (this.#inString) {
        if (isTop && this.#expectsName && this.#name.length < MAX_NAME_LENGTH) this.#name += String.fromCharCode(byte);
        if (this.#escaped) this.#escaped = false;
        else if (byte === BACKSLASH) this.#escaped = true;
        else if (byte === QUOTE) this.#inString = false;
      } else if (byte === QUOTE) {
        this.#inString = true;
        if (isTop && this.#expectsName) this.#name = '"';
      } else if (byte === COMMA) {
        if (isTop) this.#expectsName = true;
      } else if (byte === COLON) {
        if (isTop) this.#expectsName = false;
      } else if (byte === OPEN_BRACE || byte === OPEN_BRACKET) {
        if (byte === OPEN_BRACE && this.#inItemsArray && this.#depth === 2) {
          this.#inItem = true;
          this.#depth = 0;
          return at;
        }
        if (isTop && byte === OPEN_BRACKET && !this.#expectsName && isItemsName(this.#name)) {
          this.#inItemsArray = true;
          // If two members have the same name, the last one wins.
          this.#items = [];
        }
        this.#depth++;
      } else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) {
        this.#depth--;
        if (this.#depth === 1) this.#inItemsArray = false;
      }
    }
    return chunk.length;
  }

  /**
   * Scans an item up to its end. Nearly all bytes pass through this loop, so it does as little as possible per byte.
   */
  #findItemEnd(chunk: Uint8Array, from: number): number {
    const { length } = chunk;
    let at = this.#escaped ? from + 1 : from;
    let depth = this.#depth;
    let inString = this.#inString;
    while (at < length) {
      const byte = chunk[at++]!;
      if (inString) {
        if (byte === QUOTE) inString = false;
        else if (byte === BACKSLASH) at++;
      } else if (byte === QUOTE) {
        inString = true;
      } else if ((byte | BRACE_BIT) === OPEN_BRACE) {
        depth++;
      } else if ((byte | BRACE_BIT) === CLOSE_BRACE && --depth === 0) {
        // Back between the items, in an array of the document.
        this.#inItem = false;
        depth = 2;
        break;
      }
    }
    this.#depth = depth;
    this.#inString = inString;
    this.#escaped = at > length;
    return Math.min(at, length);
  }

  #appendRest(part: Uint8Array): void {
    // The length includes the items, three characters each.
    if (this.#rest.length + part.length > limits.item) throw tooLongError("the list, without its items,", limits.item);
    // Fast path for the usual case.
    if (this.#inItemsArray && part.length === 1 && part[0] === COMMA) this.#rest += ",";
    else this.#rest += this.#restDecoder.decode(part, { stream: true });
  }

  #finishItem(last: Uint8Array): void {
    this.#item.append(last);
    const text = this.#decoder.decode(this.#item.take());
    this.#rest += "{}";
    this.#items.push(this.#mapItem(this.#parse(text)));
  }
}

function isItemsName(name: string): boolean {
  return name === '"items"' || (name.includes("\\") && decodedName(name) === "items");
}

function decodedName(name: string): unknown {
  try {
    return JSON.parse(name) as unknown;
  } catch {
    // The name is not valid JSON, so the document is not either.
    return undefined;
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
