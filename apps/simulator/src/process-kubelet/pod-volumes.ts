import type { Container, DeepReadonly, Pod } from "@kubewright/api";

import { ConfigError } from "./config-error.js";
import type { ConfigReader } from "./config-reader.js";
import type { PathMapping } from "./path-mapping.js";
import { podField } from "./pod-field.js";
import type { ProcessFolder } from "./process-host.js";

type Volume = DeepReadonly<NonNullable<NonNullable<Pod["spec"]>["volumes"]>[number]>;
type Sources = Pick<Volume, "configMap" | "secret" | "downwardAPI">;
type Items = readonly { readonly key: string; readonly path: string }[] | undefined;

/** The host paths of a pod's volumes, by volume name. */
export type VolumePaths = ReadonlyMap<string, string>;

/**
 * Creates the volumes of a pod below a folder. Omits volumes that no container mounts.
 *
 * @throws ConfigError for an unsupported volume, or one whose data does not exist.
 */
export async function makeVolumes(
  pod: DeepReadonly<Pod>,
  {
    folder,
    parentPath,
    reader,
  }: { readonly folder: ProcessFolder; readonly parentPath: string; readonly reader: ConfigReader },
): Promise<VolumePaths> {
  const { volumes = [], containers = [], initContainers = [] } = pod.spec ?? {};
  const mounted = new Set(
    [...containers, ...initContainers].flatMap(({ volumeMounts = [] }) => volumeMounts.map(({ name }) => name)),
  );
  const paths = new Map<string, string>();
  for (const volume of volumes) {
    const { name, hostPath, emptyDir, projected } = volume;
    if (!mounted.has(name)) continue;
    if (hostPath !== undefined) {
      paths.set(name, hostPath.path);
      continue;
    }
    const path = `${parentPath}/${name}`;
    await folder.makeFolder(path);
    paths.set(name, folder.pathOf(path));
    if (emptyDir !== undefined) continue;
    const sources = projected === undefined ? [ofVolume(volume)] : (projected.sources ?? []).map(ofProjection);
    for (const source of sources) {
      const files = source === undefined ? undefined : await filesOf(pod, source, reader);
      if (files === undefined)
        throw new ConfigError(
          `volume ${JSON.stringify(name)}: this kubelet has emptyDir, configMap, secret, downwardAPI, hostPath, and projected volumes of these`,
        );
      for (const [file, bytes] of files) await folder.write(`${path}/${file}`, bytes);
    }
  }
  return paths;
}

/** Returns the path mapping of a container's mounts. */
export function mountedPaths({ volumeMounts = [] }: DeepReadonly<Container>, volumes: VolumePaths): PathMapping {
  return volumeMounts.flatMap(({ name, mountPath, subPath }) => {
    const path = volumes.get(name);
    if (path === undefined) return [];
    return [[mountPath.replace(/\/+$/, ""), subPath ? `${path}/${subPath}` : path] as const];
  });
}

interface Source {
  readonly sources: Sources;
  readonly name: string | undefined;
}

function ofVolume({ configMap, secret, downwardAPI }: Volume): Source | undefined {
  if (configMap !== undefined) return { sources: { configMap }, name: configMap.name };
  if (secret !== undefined) return { sources: { secret }, name: secret.secretName };
  return downwardAPI === undefined ? undefined : { sources: { downwardAPI }, name: undefined };
}

type Projection = NonNullable<NonNullable<Volume["projected"]>["sources"]>[number];

function ofProjection({ configMap, secret, downwardAPI }: Projection): Source | undefined {
  if (configMap !== undefined) return { sources: { configMap }, name: configMap.name };
  if (secret !== undefined) return { sources: { secret }, name: secret.name };
  return downwardAPI === undefined ? undefined : { sources: { downwardAPI }, name: undefined };
}

async function filesOf(
  pod: DeepReadonly<Pod>,
  { sources: { configMap, secret, downwardAPI }, name = "" }: Source,
  reader: ConfigReader,
): Promise<ReadonlyMap<string, Uint8Array | string>> {
  if (downwardAPI !== undefined)
    return new Map(
      (downwardAPI.items ?? []).map(({ path, fieldRef }) => {
        if (fieldRef === undefined)
          throw new ConfigError(`downwardAPI ${path}: this kubelet has fields of the pod only`);
        return [path, podField(pod, fieldRef.fieldPath)];
      }),
    );
  const { items, optional = false } = configMap ?? secret ?? {};
  const data = await reader.read(configMap === undefined ? "Secret" : "ConfigMap", name, optional);
  return selectItems(data ?? new Map<string, Uint8Array>(), items, optional);
}

function selectItems(
  data: ReadonlyMap<string, Uint8Array>,
  items: Items,
  isOptional: boolean,
): ReadonlyMap<string, Uint8Array> {
  if (items === undefined) return data;
  const files = new Map<string, Uint8Array>();
  for (const { key, path } of items) {
    const bytes = data.get(key);
    if (bytes !== undefined) files.set(path, bytes);
    else if (!isOptional) throw new ConfigError(`references non-existent config key: ${key}`);
  }
  return files;
}
