import type { Container } from "@kubewright/api";

import type { FieldErrors } from "../../field-errors.js";
import { validateSupported } from "../../validation/rules.js";
import { hasBackstep, validateLocalPath } from "./local-path.js";
import type { Volume } from "./volume-validation.js";

type VolumeMount = NonNullable<Container["volumeMounts"]>[number];
type Volumes = ReadonlyMap<string, Volume>;

const PROPAGATIONS = ["Bidirectional", "HostToContainer", "None"];
const RECURSIVE_READ_ONLY = ["Disabled", "Enabled", "IfPossible"];

/** Upstream: `ValidateVolumeMounts`. As there, some errors of one mount have a path without its index. */
export function validateVolumeMounts(container: Container, volumes: Volumes, path: string, errors: FieldErrors): void {
  const { volumeDevices } = container;
  const deviceNames = volumeDevices && new Set(volumeDevices.map(({ name }) => name));
  const devicePaths = volumeDevices && new Set(volumeDevices.map(({ devicePath }) => devicePath));
  const mountPaths = new Set<string>();
  for (const [index, mount] of (container.volumeMounts ?? []).entries()) {
    const { name, mountPath, subPath, subPathExpr, mountPropagation } = mount;
    const at = `${path}[${index}]`;
    if (!name) errors.required(`${at}.name`);
    if (!volumes.has(name)) errors.notFound(`${at}.name`, name);
    if (!mountPath) errors.required(`${at}.mountPath`);
    if (mountPaths.has(mountPath)) errors.invalid(`${at}.mountPath`, mountPath, "must be unique");
    mountPaths.add(mountPath);
    if (deviceNames?.has(name)) errors.invalid(`${at}.name`, name, "must not already exist in volumeDevices");
    if (devicePaths?.has(mountPath))
      errors.invalid(`${at}.mountPath`, mountPath, "must not already exist as a path in volumeDevices");
    if (volumes.get(name)?.image !== undefined) {
      for (const [field, value] of Object.entries({ subPath, subPathExpr }))
        if (value) errors.invalid(`${at}.${field}`, value, "not allowed in image volume sources");
    }
    if (subPath) validateLocalPath(subPath, `${path}.subPath`, errors);
    if (subPathExpr) {
      if (subPath) errors.invalid(`${at}.subPathExpr`, subPathExpr, "subPathExpr and subPath are mutually exclusive");
      validateLocalPath(subPathExpr, `${path}.subPathExpr`, errors);
    }
    if (mountPropagation !== undefined)
      validatePropagation(mountPropagation, container, `${path}.mountPropagation`, errors);
    validateRecursiveReadOnly(mount, `${path}.recursiveReadOnly`, errors);
  }
}

function validatePropagation(
  propagation: string,
  { securityContext }: Container,
  field: string,
  errors: FieldErrors,
): void {
  validateSupported(propagation, PROPAGATIONS, field, errors);
  if (propagation === "Bidirectional" && securityContext?.privileged !== true)
    errors.forbidden(field, "Bidirectional mount propagation is available only to privileged containers");
}

function validateRecursiveReadOnly(
  { recursiveReadOnly, readOnly, mountPropagation = "None" }: VolumeMount,
  field: string,
  errors: FieldErrors,
): void {
  if (recursiveReadOnly === undefined || recursiveReadOnly === "Disabled") return;
  if (!RECURSIVE_READ_ONLY.includes(recursiveReadOnly))
    return errors.notSupported(field, recursiveReadOnly, RECURSIVE_READ_ONLY);
  if (!readOnly) errors.forbidden(field, "may only be specified when readOnly is true");
  if (mountPropagation !== "None")
    errors.forbidden(field, "may only be specified when mountPropagation is None or not specified");
}

/** Validates claims that are used as raw block devices. Upstream: `ValidateVolumeDevices`. */
export function validateVolumeDevices(container: Container, volumes: Volumes, path: string, errors: FieldErrors): void {
  const mountNames = new Set((container.volumeMounts ?? []).map(({ name }) => name));
  const mountPaths = new Set((container.volumeMounts ?? []).map(({ mountPath }) => mountPath));
  const names = new Set<string>();
  const paths = new Set<string>();
  for (const [index, { name, devicePath }] of (container.volumeDevices ?? []).entries()) {
    const at = `${path}[${index}]`;
    const volume = volumes.get(name);
    if (!name) errors.required(`${at}.name`);
    if (names.has(name)) errors.invalid(`${at}.name`, name, "must be unique");
    if (volume === undefined) errors.notFound(`${at}.name`, name);
    else if (volume.persistentVolumeClaim === undefined && volume.ephemeral === undefined) {
      const detail = "can only use volume source type of PersistentVolumeClaim or Ephemeral for block mode";
      errors.invalid(`${at}.name`, name, detail);
    }
    if (!devicePath) errors.required(`${at}.devicePath`);
    if (paths.has(devicePath)) errors.invalid(`${at}.devicePath`, devicePath, "must be unique");
    if (devicePath && hasBackstep(devicePath))
      errors.invalid(`${at}.devicePath`, devicePath, "can not contain backsteps ('..')");
    else paths.add(devicePath);
    if (mountNames.has(name)) errors.invalid(`${at}.name`, name, "must not already exist in volumeMounts");
    if (mountPaths.has(devicePath))
      errors.invalid(`${at}.devicePath`, devicePath, "must not already exist as a path in volumeMounts");
    if (name) names.add(name);
  }
}
