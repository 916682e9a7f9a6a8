import type { ResourceDefinition } from "@kubewright/api";

/** What a request addresses within its resource. */
export interface Target {
  readonly namespace?: string | undefined;
  readonly name?: string | undefined;
  readonly subresource?: string | undefined;
}

/** The URL path of a collection, object or subresource. @throws Error when a name or namespace is missing or cannot stand in a URL path. */
export function resourcePath(definition: ResourceDefinition, { namespace, name, subresource }: Target): string {
  if (name === "") throw new Error(`resource name may not be empty in a request for ${definition.resource}`);
  if (name !== undefined && definition.namespaced && !namespace) {
    throw new Error(
      `an empty namespace may not be set when a resource name is provided (${definition.resource} ${JSON.stringify(name)})`,
    );
  }
  const root =
    definition.group === "" ? `/api/${definition.version}` : `/apis/${definition.group}/${definition.version}`;
  const scope = definition.namespaced && namespace ? `/namespaces/${segment("namespace", namespace)}` : "";
  const object = name === undefined ? "" : `/${segment("resource name", name)}`;
  return `${root}${scope}/${definition.resource}${object}${subresource === undefined ? "" : `/${subresource}`}`;
}

/** What nearly all names look like, and needs no encoding. */
const PLAIN_SEGMENT = /^[a-z0-9][-a-z0-9.]*$/;

function segment(what: string, text: string): string {
  if (PLAIN_SEGMENT.test(text)) return text;
  if (text === "." || text === ".." || /[/%]/.test(text)) throw new Error(`invalid ${what} ${JSON.stringify(text)}`);
  return encodeURIComponent(text);
}

type QueryValue = string | number | boolean | undefined;

/** `path?a=b`, leaving out what is undefined. */
export function withQuery(path: string, query: Readonly<Record<string, QueryValue>>): string {
  let text = "";
  for (const [key, value] of Object.entries(query)) {
    if (value !== undefined) text += `${text === "" ? "?" : "&"}${key}=${encodeURIComponent(value)}`;
  }
  return path + text;
}
