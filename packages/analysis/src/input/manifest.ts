import type { UnstructuredObject } from "@kubewright/api";
import type { YamlPath } from "@kubewright/apiserver/yaml";

import { type RemovedVersion, removedVersionOf } from "./removed-versions.js";

/** An object with its place in an input text. */
export interface Manifest {
  readonly object: UnstructuredObject;
  /** `examples/pi.yaml:3` */
  readonly source: string;
  /** Returns the place of a field: `examples/pi.yaml:12:9`. A missing field has the place of its parent. */
  readonly place: (path: YamlPath, options?: { readonly atKey?: boolean }) => string;
  /** The version in the text, if Kubernetes has removed it. The object has the stable version. */
  readonly removedVersion?: RemovedVersion;
}

/** Gives an object of a removed version its stable version, which has the same fields. */
export function withStableVersion(manifest: Manifest): Manifest {
  const removedVersion = removedVersionOf(manifest.object);
  return removedVersion === undefined
    ? manifest
    : { ...manifest, removedVersion, object: { ...manifest.object, apiVersion: removedVersion.stable } };
}

/** Creates the manifest of an object without an input text. */
export function manifestAt(object: UnstructuredObject, source: string): Manifest {
  return withStableVersion({ object, source, place: () => source });
}

/** Returns kind, namespace and name, which identify an object: `apps/v1 Deployment default/web`. */
export function identityOf({ apiVersion, kind, metadata }: UnstructuredObject): string {
  return `${apiVersion} ${kind} ${metadata.namespace ?? "default"}/${metadata.name ?? ""}`;
}

/** `CronJob team/report`, as the manifest names it. */
export function objectName({ kind, metadata: { namespace, name, generateName } }: UnstructuredObject): string {
  return `${kind} ${namespace === undefined ? "" : `${namespace}/`}${name ?? generateName ?? ""}`;
}
