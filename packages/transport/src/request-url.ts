/** The path and the query of a request URL. */
export interface RequestUrl {
  /** Decoded: `%2F` is an ordinary slash. Bytes that are not UTF-8 become U+FFFD. */
  readonly path: string;
  /** The text after the first `?`, as sent. */
  readonly query: string;
}

/** The limit of Go 1.26. A query with more parameters counts as empty. */
const MAX_PARAMETERS = 10_000;
const CONTROL_CHARACTER = /[\x00-\x1f\x7f]/;
/** Matches nearly all paths without a query. Such paths need no decoding. */
const PLAIN_PATH = /^\/[!-$&->@-~]*$/;
const MALFORMED_ESCAPE = /%(?![0-9a-f]{2})/i;
const PERCENT = 0x25;
const ORIGIN = /^[a-z][a-z0-9+.-]*:\/\/[^/?]*/i;

/**
 * Parses the URL of a request, as in {@link ApiRequest.path} or in a request line. A server that authorizes requests by
 * path has to parse the path once, and use only the result.
 *
 * @returns `undefined` for URLs that Go's server rejects with `400 Bad Request` before any handler runs: a malformed
 * escape or a control character in the path, a control character in the query, or no path.
 * @see Go 1.26 `net/url` ParseRequestURI
 */
export function parseRequestUrl(text: string): RequestUrl | undefined {
  if (PLAIN_PATH.test(text)) return { path: text, query: "" };
  if (CONTROL_CHARACTER.test(text)) return undefined;
  const queryStart = text.indexOf("?");
  const query = queryStart < 0 ? "" : text.slice(queryStart + 1);
  let encoded = queryStart < 0 ? text : text.slice(0, queryStart);
  // The absolute form that proxies send. Servers have to accept it.
  if (!encoded.startsWith("/")) {
    if (!ORIGIN.test(encoded)) return undefined;
    encoded = encoded.replace(ORIGIN, "");
  }
  const path = unescapePath(encoded);
  return path === undefined ? undefined : { path, query };
}

/**
 * Parses the parameters of a query, in order. Skips malformed parameters (an escape, a semicolon). Returns none if
 * there are more than 10,000.
 *
 * @see Go 1.26 `net/url` URL.Query
 */
export function parseQuery(query: string): URLSearchParams {
  const pairs = query.split("&");
  if (pairs.length > MAX_PARAMETERS) return new URLSearchParams();
  const isWellFormed = (pair: string): boolean => !pair.includes(";") && !MALFORMED_ESCAPE.test(pair);
  // The leading `&` prevents URLSearchParams from dropping a question mark at the beginning of the first name.
  return new URLSearchParams(`&${pairs.filter(isWellFormed).join("&")}`);
}

/**
 * Decodes the escapes of a path, or of a part of it.
 *
 * @returns `undefined` if an escape is malformed.
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

/** Decodes escapes that are not all UTF-8. */
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
