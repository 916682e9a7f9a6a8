import type { ResourceDefinition } from "@kubewright/api";

/** The target of a request within its resource. */
export interface Target {
  readonly namespace?: string | undefined;
  readonly name?: string | undefined;
  readonly subresource?: string | undefined;
}

/**
 * Returns the URL path of a collection, object or subresource.
 *
 * @throws Error when a name or namespace is missing, or when one of them or the subresource is not a valid path
 * segment.
 */
export function resourcePath(definition: ResourceDefinition, { namespace, name, subresource }: Target): string {
  const { group, version, resource } = definition;
  if (name === "") throw new Error(`resource name may not be empty in a request for ${resource}`);
  if (name !== undefined && definition.namespaced && !namespace) {
    throw new Error(
      `an empty namespace may not be set when a resource name is provided (${resource} ${JSON.stringify(name)})`,
    );
  }
  let path = group === "" ? `/api/${version}` : `/apis/${group}/${version}`;
  if (definition.namespaced && namespace) path += `/namespaces/${segment("namespace", namespace)}`;
  path += `/${resource}`;
  if (name !== undefined) path += `/${segment("resource name", name)}`;
  if (subresource !== undefined) path += `/${segment("subresource", subresource)}`;
  return path;
}

/** The form of nearly all names. Such names need no encoding. */
const PLAIN_SEGMENT = /^[a-z0-9][-a-z0-9.]*$/;

function segment(what: string, text: string): string {
  if (PLAIN_SEGMENT.test(text)) return text;
  if (text === "." || text === ".." || /[/%]/.test(text)) throw new Error(`invalid ${what} ${JSON.stringify(text)}`);
  return encodeURIComponent(text);
}

/** Options of a call that do not become URL parameters. */
const NON_QUERY_OPTIONS: ReadonlySet<string> = new Set(["namespace", "signal", "subresource", "mapItem"]);

/** Returns `path?a=b` with the options that are URL parameters. Skips `undefined` values. */
export function withQuery(path: string, options: object): string {
  let text = "";
  for (const key in options) {
    const value = (options as Readonly<Record<string, unknown>>)[key];
    if (value !== undefined && !NON_QUERY_OPTIONS.has(key))
      text += `${text === "" ? "?" : "&"}${key}=${encodeURIComponent(value as string | number | boolean)}`;
  }
  return text === "" ? path : path + text;
}
