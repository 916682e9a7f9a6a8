/** A request's path and query, apart. */
export interface RequestUrl {
  /** Decoded, so `%2F` is a slash like any other. Bytes that are no UTF-8 are U+FFFD. */
  readonly path: string;
  /** What follows the first `?`, as it was sent. */
  readonly query: string;
}

/** As Go 1.26: a query of more is no query. */
const MAX_PARAMETERS = 10_000;
const CONTROL_CHARACTER = /[\x00-\x1f\x7f]/;
/** Nearly all paths without a query, which mean what they say. */
const PLAIN_PATH = /^\/[!-$&->@-~]*$/;
const MALFORMED_ESCAPE = /%(?![0-9a-f]{2})/i;
const PERCENT = 0x25;
const ORIGIN = /^[a-z][a-z0-9+.-]*:\/\/[^/?]*/i;

/**
 * Reads what a request asks for, as {@link ApiRequest.path} or a request line has it. A server that judges a request by its
 * path has to read it once, and go by that alone.
 *
 * @returns `undefined` for what Go's server answers with `400 Bad Request` before anybody sees it: a malformed escape or a
 *   control character in the path, a control character in the query, or no path at all.
 * @see Go 1.26 `net/url` ParseRequestURI
 */
export function parseRequestUrl(text: string): RequestUrl | undefined {
  if (PLAIN_PATH.test(text)) return { path: text, query: "" };
  if (CONTROL_CHARACTER.test(text)) return undefined;
  const queryStart = text.indexOf("?");
  const query = queryStart < 0 ? "" : text.slice(queryStart + 1);
  let encoded = queryStart < 0 ? text : text.slice(0, queryStart);
  // A proxy's form, which a server has to take.
  if (!encoded.startsWith("/")) {
    if (!ORIGIN.test(encoded)) return undefined;
    encoded = encoded.replace(ORIGIN, "");
  }
  const path = unescapePath(encoded);
  return path === undefined ? undefined : { path, query };
}

/**
 * The parameters of a query, in order; what is malformed (an escape, a semicolon) is passed over, and of more than 10,000
 * none counts.
 *
 * @see Go 1.26 `net/url` URL.Query
 */
export function parseQuery(query: string): URLSearchParams {
  const pairs = query.split("&");
  if (pairs.length > MAX_PARAMETERS) return new URLSearchParams();
  const isWellFormed = (pair: string): boolean => !pair.includes(";") && !MALFORMED_ESCAPE.test(pair);
  // The first character: else a question mark there would not be part of a name.
  return new URLSearchParams(`&${pairs.filter(isWellFormed).join("&")}`);
}

/**
 * Takes the escapes out of a path, or a part of one.
 *
 * @returns `undefined` when one of them is malformed.
 * @see Go 1.26 `net/url` PathUnescape
 */
export function unescapePath(text: string): string | undefined {
  if (!text.includes("%")) return text;
  if (MALFORMED_ESCAPE.test(text)) return undefined;
  try {
    return decodeURIComponent(text);
  } catch {
    return decodeBytes(text);
  }
}

/** For escapes that are not all UTF-8. */
function decodeBytes(text: string): string {
  const bytes = new TextEncoder().encode(text);
  let length = 0;
  for (let index = 0; index < bytes.length; index++) {
    if (bytes[index] === PERCENT) {
      bytes[length++] = (hexDigit(bytes[index + 1]!) << 4) | hexDigit(bytes[index + 2]!);
      index += 2;
    } else bytes[length++] = bytes[index]!;
  }
  return new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes.subarray(0, length));
}

function hexDigit(code: number): number {
  return Number.parseInt(String.fromCharCode(code), 16);
}
