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
/** `items` with every letter escaped, and quotes, is shorter. */
const MAX_NAME_LENGTH = 40;
/** The bit that makes braces of brackets. */
const BRACE_BIT = 0x20;

/**
 * Reads a JSON document with a long array `items` at its top while the chunks of its UTF-8 arrive, and takes each item as
 * soon as it is complete: neither the whole text, nor what is not kept of the items, is ever there at once.
 *
 * The objects in `items` are parsed one by one; in the rest, which is parsed at the end, `{}` stands for each. Since an
 * object may stand wherever another does, the document is JSON exactly when all of these are.
 */
export class ListReader {
  readonly #parse: (text: string) => unknown;
  readonly #mapItem: (item: unknown) => unknown;
  readonly #decoder = new TextDecoder();
  readonly #restDecoder = new TextDecoder();
  /** What was made of the objects in `items`, so far. */
  #items: unknown[] = [];
  #rest = "";
  /** Brackets and braces open: in the item that is being read, else in the rest. */
  #depth = 0;
  #inItem = false;
  /** What earlier chunks had of the item. */
  readonly #item = new ByteBuffer(limits.item, () => tooLongError("an item of the list", limits.item));
  #inString = false;
  /** Whether the last byte was a backslash that changes what the next means. */
  #escaped = false;
  /** Whether we are between the items. */
  #inItemsArray = false;
  /** At the top: whether a name comes before the next colon, and how the last one is spelled, quotes included. */
  #expectsName = true;
  #name = "";

  /**
   * @param parse - JSON.parse, or what fails in another way.
   * @mapItem mapItem - Makes of each item what is kept.
   */
  constructor(parse: (text: string) => unknown, mapItem: (item: unknown) => unknown) {
    this.#parse = parse;
    this.#mapItem = mapItem;
  }

  /** @throws what parsing or taking an item throws, and Error for an item, or a rest, that is too long. */
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

  /** The whole document, with what was made of its items. @throws what parsing it throws, when it is not JSON. */
  end(): unknown {
    const document = this.#parse(this.#rest + this.#restDecoder.decode());
    const items = isObject(document) ? document["items"] : undefined;
    if (!Array.isArray(items)) return document;
    let objects = 0;
    for (let index = 0; index < items.length; index++)
      items[index] = isObject(items[index]) ? this.#items[objects++] : this.#mapItem(items[index]);
    return document;
  }

  /** Goes through the rest up to the brace that opens an item. */
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
          // Of two members with one name the last counts.
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

  /** Goes through an item up to its end. Nearly all bytes come through here: as little as possible is done with each. */
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
        // Back among the items, in an array of the document.
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
    // Counts the items too, three characters each.
    if (this.#rest.length + part.length > limits.item) throw tooLongError("the list, without its items,", limits.item);
    // As it is most of the time.
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
    // The document is not JSON either.
    return undefined;
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
