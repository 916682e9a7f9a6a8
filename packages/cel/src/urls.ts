/** An absolute URL or path. Upstream: Go's `net/url`. */
export interface ParsedUrl {
  readonly scheme: string;
  /** The host name with its port. */
  readonly host: string;
  readonly hostname: string;
  readonly port: string;
  readonly escapedPath: string;
  readonly query: ReadonlyMap<string, readonly string[]>;
  readonly text: string;
}

/** Parses a URL; returns the error message when the text is not a URL. Upstream: `url.ParseRequestURI`. */
export function parseUrl(text: string): ParsedUrl | string {
  // eslint-disable-next-line no-control-regex -- the very characters
  if (/[\u0000-\u001f\u007f]/.test(text)) return "net/url: invalid control character in URL";
  if (text === "") return "empty url";
  const scheme = /^([a-zA-Z][a-zA-Z0-9+.-]*):/.exec(text)?.[1] ?? "";
  if (text.startsWith(":")) return "missing protocol scheme";
  let rest = scheme === "" ? text : text.slice(scheme.length + 1);
  const mark = rest.indexOf("?");
  const query = mark < 0 ? "" : rest.slice(mark + 1);
  if (mark >= 0) rest = rest.slice(0, mark);
  let host = "";
  if (!rest.startsWith("/")) {
    if (scheme === "") return "invalid URI for request";
    return createUrl(text, scheme, "", "", query);
  }
  if (scheme !== "" && rest.startsWith("//")) {
    const slash = rest.indexOf("/", 2);
    const authority = slash < 0 ? rest.slice(2) : rest.slice(2, slash);
    rest = slash < 0 ? "" : rest.slice(slash);
    host = authority.slice(authority.lastIndexOf("@") + 1);
    const problem = hostProblem(host);
    if (problem !== undefined) return problem;
  }
  const escape = /%(?![0-9a-fA-F]{2}).{0,2}/.exec(rest);
  if (escape !== null) return `invalid URL escape ${JSON.stringify(escape[0])}`;
  return createUrl(text, scheme, host, rest, query);
}

function hostProblem(host: string): string | undefined {
  if (host.startsWith("[")) {
    const close = host.lastIndexOf("]");
    if (close < 0) return "missing ']' in host";
    const port = host.slice(close + 1);
    return isPort(port) ? undefined : `invalid port ${JSON.stringify(port)} after host`;
  }
  const colon = host.lastIndexOf(":");
  if (colon >= 0 && !isPort(host.slice(colon))) return `invalid port ${JSON.stringify(host.slice(colon))} after host`;
  const invalidCharacter = /[ "<>\\^`{|}]/.exec(host);
  return invalidCharacter === null
    ? undefined
    : `invalid character ${JSON.stringify(invalidCharacter[0])} in host name`;
}

function isPort(text: string): boolean {
  return text === "" || /^:\d*$/.test(text);
}

function createUrl(text: string, scheme: string, host: string, path: string, query: string): ParsedUrl {
  const bracket = host.startsWith("[") ? host.indexOf("]") : -1;
  const colon = bracket < 0 ? host.indexOf(":") : host.indexOf(":", bracket);
  const name = colon < 0 ? host : host.slice(0, colon);
  return {
    text,
    scheme: scheme.toLowerCase(),
    host,
    hostname: bracket < 0 ? name : host.slice(1, bracket),
    port: colon < 0 ? "" : host.slice(colon + 1),
    escapedPath: escapePath(path),
    query: parseQuery(query),
  };
}

/** Percent-encodes the characters that a path may not contain. */
function escapePath(path: string): string {
  if (/^(?:[A-Za-z0-9\-_.~!$&'()*+,;=:@/[\]]|%[0-9a-fA-F]{2})*$/.test(path)) return path;
  return path.replace(/[^A-Za-z0-9\-_.~$&+,/:;=@%]|%(?![0-9a-fA-F]{2})/gu, (character) =>
    Array.from(
      new TextEncoder().encode(character),
      (byte) => `%${byte.toString(16).toUpperCase().padStart(2, "0")}`,
    ).join(""),
  );
}

function parseQuery(query: string): Map<string, string[]> {
  const values = new Map<string, string[]>();
  for (const part of query.split("&")) {
    if (part === "" || part.includes(";")) continue;
    const equals = part.indexOf("=");
    const key = unescapeQuery(equals < 0 ? part : part.slice(0, equals));
    const value = unescapeQuery(equals < 0 ? "" : part.slice(equals + 1));
    if (key === undefined || value === undefined) continue;
    const known = values.get(key);
    if (known === undefined) values.set(key, [value]);
    else known.push(value);
  }
  return values;
}

function unescapeQuery(text: string): string | undefined {
  try {
    return decodeURIComponent(text.replaceAll("+", " "));
  } catch {
    return undefined;
  }
}
