import type { PodSpec } from "@kubewright/api";

import { FieldErrors } from "../../field-errors.js";
import { dnsLabelErrors } from "../../names.js";
import { parseQuantity } from "../../quantity.js";
import { addInvalid } from "../../validation/rules.js";
import { validateFieldRef, VOLUME_FIELDS } from "./environment-validation.js";

type Volume = NonNullable<PodSpec["volumes"]>[number];

/** In the order in which upstream looks for them: all but the first that is set are refused. */
const SOURCES = [
  "emptyDir",
  "hostPath",
  "gitRepo",
  "gcePersistentDisk",
  "awsElasticBlockStore",
  "secret",
  "nfs",
  "iscsi",
  "glusterfs",
  "flocker",
  "persistentVolumeClaim",
  "rbd",
  "cinder",
  "cephfs",
  "quobyte",
  "downwardAPI",
  "fc",
  "flexVolume",
  "configMap",
  "azureFile",
  "vsphereVolume",
  "photonPersistentDisk",
  "portworxVolume",
  "azureDisk",
  "storageos",
  "projected",
  "scaleIO",
  "csi",
  "ephemeral",
  "image",
] as const;

const HOST_PATH_TYPES = [
  "",
  "BlockDevice",
  "CharDevice",
  "Directory",
  "DirectoryOrCreate",
  "File",
  "FileOrCreate",
  "Socket",
];

/**
 * The names that containers can mount: those of the valid volumes. Of the sources that pods of Jobs seldom have only the
 * presence is looked at.
 *
 * Upstream: `ValidateVolumes`.
 */
export function validateVolumes(volumes: readonly Volume[], path: string, errors: FieldErrors): ReadonlySet<string> {
  const names = new Set<string>();
  for (const [index, volume] of volumes.entries()) {
    const at = `${path}[${index}]`;
    const own = new FieldErrors();
    validateSource(volume, at, own);
    if (!volume.name) own.required(`${at}.name`);
    else addInvalid(own, `${at}.name`, volume.name, dnsLabelErrors(volume.name));
    if (names.has(volume.name)) own.duplicate(`${at}.name`, volume.name);
    if (own.isEmpty) names.add(volume.name);
    for (const error of own.all) errors.add(error);
  }
  return names;
}

function validateSource(volume: Volume, path: string, errors: FieldErrors): void {
  let isFirst = true;
  for (const source of SOURCES) {
    if (volume[source] === undefined) continue;
    const at = `${path}.${source}`;
    if (!isFirst) errors.forbidden(at, "may not specify more than 1 volume type");
    else validateFirstSource(volume, source, at, errors);
    isFirst = false;
  }
  if (isFirst) errors.required(path, "must specify a volume type");
}

function validateFirstSource(
  volume: Volume,
  source: (typeof SOURCES)[number],
  path: string,
  errors: FieldErrors,
): void {
  switch (source) {
    case "emptyDir": {
      const limit = volume.emptyDir?.sizeLimit;
      if (limit !== undefined && (parseQuantity(limit)?.nanos ?? 0n) < 0n) {
        errors.forbidden(`${path}.sizeLimit`, "SizeLimit field must be a valid resource quantity");
      }
      break;
    }
    case "hostPath": {
      const { path: hostPath = "", type = "" } = volume.hostPath ?? {};
      if (hostPath === "") errors.required(`${path}.path`);
      else if (hostPath.split("/").includes("..")) errors.invalid(`${path}.path`, hostPath, "must not contain '..'");
      if (!HOST_PATH_TYPES.includes(type)) errors.notSupported(`${path}.type`, type, HOST_PATH_TYPES);
      break;
    }
    case "secret":
      if (!volume.secret?.secretName) errors.required(`${path}.secretName`);
      validateItems(volume.secret, path, errors);
      break;
    case "configMap":
      if (!volume.configMap?.name) errors.required(`${path}.name`);
      validateItems(volume.configMap, path, errors);
      break;
    case "nfs":
      if (!volume.nfs?.server) errors.required(`${path}.server`);
      if (!volume.nfs?.path) errors.required(`${path}.path`);
      break;
    case "persistentVolumeClaim": {
      const name = volume.persistentVolumeClaim?.claimName ?? "";
      if (name === "") errors.required(`${path}.claimName`);
      break;
    }
    case "downwardAPI":
      for (const [index, item] of (volume.downwardAPI?.items ?? []).entries()) {
        const at = `${path}.items[${index}]`;
        if (!item.path) errors.required(`${at}.path`);
        else validateLocalPath(item.path, `${at}.path`, errors);
        if (item.fieldRef) validateFieldRef(item.fieldRef, VOLUME_FIELDS, `${at}.fieldRef`, errors);
        else if (!item.resourceFieldRef) errors.required(at, "one of fieldRef and resourceFieldRef is required");
      }
      break;
    case "csi":
      if (!volume.csi?.driver) errors.required(`${path}.driver`);
      break;
    case "ephemeral":
      if (!volume.ephemeral?.volumeClaimTemplate) errors.required(`${path}.volumeClaimTemplate`);
      break;
    default:
  }
}

function validateItems(
  source: { items?: { key: string; path: string }[]; defaultMode?: number } | undefined,
  path: string,
  errors: FieldErrors,
): void {
  const mode = source?.defaultMode;
  if (mode !== undefined && (mode < 0 || mode > 0o777)) {
    errors.invalid(`${path}.defaultMode`, mode, "must be a number between 0 and 0777 (octal), both inclusive");
  }
  for (const [index, item] of (source?.items ?? []).entries()) {
    if (!item.key) errors.required(`${path}.items[${index}].key`);
    if (!item.path) errors.required(`${path}.items[${index}].path`);
    else validateLocalPath(item.path, `${path}.items[${index}].path`, errors);
  }
}

/** A path below the volume's root. Upstream: `validateLocalDescendingPath`. */
export function validateLocalPath(path: string, field: string, errors: FieldErrors): void {
  if (path.startsWith("/")) errors.invalid(field, path, "must be a relative path");
  if (path.split("/").includes("..")) errors.invalid(field, path, "must not contain '..'");
}
