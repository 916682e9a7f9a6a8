import type { UnstructuredObject } from "@kubewright/api";
import type { YamlPath } from "@kubewright/apiserver/yaml";

/** One object that somebody wrote, and where it stands. */
export interface Manifest {
  readonly object: UnstructuredObject;
  /** `examples/pi.yaml:3` */
  readonly source: string;
  /** Where a field of the object stands: `examples/pi.yaml:12:9`. What is not there stands where its parent does. */
  readonly place: (path: YamlPath, options?: { readonly atKey?: boolean }) => string;
}

/** For an object that comes from no text of its own. */
export function manifestAt(object: UnstructuredObject, source: string): Manifest {
  return { object, source, place: () => source };
}

/** `apps/v1 Deployment default/web` by kind, namespace and name: what two manifests of one object have in common. */
export function identityOf({ apiVersion, kind, metadata }: UnstructuredObject): string {
  return `${apiVersion} ${kind} ${metadata.namespace ?? "default"}/${metadata.name ?? ""}`;
}
