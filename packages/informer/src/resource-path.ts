import { type KubernetesObject, type ResourceDefinition, defineResource } from "@kubewright/api";
import { parseQuery, parseRequestUrl } from "@kubewright/transport";

/** The contents of a collection's URL path. */
export interface ParsedPath {
  readonly definition: ResourceDefinition<KubernetesObject>;
  readonly namespace: string | undefined;
  readonly labelSelector: string | undefined;
  readonly fieldSelector: string | undefined;
}

const CORE = /^\/api\/(?<version>[^/]+)\/(?<rest>.+)$/;
const GROUPED = /^\/apis\/(?<group>[^/]+)\/(?<version>[^/]+)\/(?<rest>.+)$/;

/**
 * Parses a path such as `/apis/batch/v1/namespaces/default/jobs`, with optional selectors in the query. The path does
 * not contain the kind, so the definition's kind is `""`.
 *
 * @throws Error when it is not the path of a collection.
 */
export function parseResourcePath(path: string): ParsedPath {
  const url = parseRequestUrl(path) ?? { path: "", query: "" };
  const { group = "", version = "", rest = "" } = (CORE.exec(url.path) ?? GROUPED.exec(url.path))?.groups ?? {};
  const segments = rest.split("/");
  const namespaced = segments.length === 3 && segments[0] === "namespaces";
  const resource = namespaced ? segments[2] : segments.length === 1 ? segments[0] : "";
  if (!resource) {
    throw new Error(
      `${JSON.stringify(path)} is not the path of a collection, such as /api/v1/namespaces/default/pods or /apis/batch/v1/jobs`,
    );
  }
  const parameters = parseQuery(url.query);
  return {
    definition: defineResource({ group, version, resource, kind: "", namespaced }),
    namespace: namespaced ? segments[1] : undefined,
    labelSelector: parameters.get("labelSelector") ?? undefined,
    fieldSelector: parameters.get("fieldSelector") ?? undefined,
  };
}
