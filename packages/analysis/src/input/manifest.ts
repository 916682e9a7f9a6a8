import type { UnstructuredObject } from "@kubewright/api";
import type { YamlPath } from "@kubewright/apiserver/yaml";

/** An object with its place in an input text. */
export interface Manifest {
  readonly object: UnstructuredObject;
  /** `examples/pi.yaml:3` */
  readonly source: string;
  /** Returns the place of a field: `examples/pi.yaml:12:9`. A missing field has the place of its parent. */
  readonly place: (path: YamlPath, options?: { readonly atKey?: boolean }) => string;
}

/** Creates the manifest of an object without an input text. */
export function manifestAt(object: UnstructuredObject, source: string): Manifest {
  return { object, source, place: () => source };
}

/** Returns kind, namespace and name, which identify an object: `apps/v1 Deployment default/web`. */
export function identityOf({ apiVersion, kind, metadata }: UnstructuredObject): string {
  return `${apiVersion} ${kind} ${metadata.namespace ?? "default"}/${metadata.name ?? ""}`;
}
