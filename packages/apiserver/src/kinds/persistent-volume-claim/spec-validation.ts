import { type PersistentVolumeClaim, parseQuantity } from "@kubewright/api";
import { dnsSubdomainErrors } from "@kubewright/api/validation";

import type { FieldErrors } from "../../field-errors.js";
import { validateLabelSelector } from "../../validation/label-selector.js";
import { addInvalid } from "../../validation/rules.js";
import { validateAccessModes, validateVolumeMode } from "./access-modes.js";

type ClaimSpec = NonNullable<PersistentVolumeClaim["spec"]>;
type DataSource = NonNullable<ClaimSpec["dataSource"]>;

/** Upstream: `ValidatePersistentVolumeClaimSpec` of `pkg/apis/core/validation`. */
export function validateClaimSpec(spec: ClaimSpec, path: string, errors: FieldErrors): void {
  const { accessModes = [], resources, storageClassName, volumeAttributesClassName, dataSource, dataSourceRef } = spec;
  if (accessModes.length === 0) errors.required(`${path}.accessModes`, "at least 1 access mode is required");
  if (spec.selector !== undefined) validateLabelSelector(spec.selector, `${path}.selector`, errors);
  validateAccessModes(accessModes, `${path}.accessModes`, errors);
  const storage = resources?.requests?.["storage"];
  if (storage === undefined) errors.required(`${path}.resources[storage]`);
  else if ((parseQuantity(storage)?.nanos ?? 1n) <= 0n)
    errors.invalid(`${path}.resources[storage]`, storage, "must be greater than zero");
  validateClassName(storageClassName, `${path}.storageClassName`, errors);
  validateVolumeMode(spec.volumeMode, `${path}.volumeMode`, errors);
  if (dataSource !== undefined) validateDataSource(dataSource, `${path}.dataSource`, errors);
  if (dataSourceRef !== undefined) validateDataSource(dataSourceRef, `${path}.dataSourceRef`, errors);
  if (dataSource !== undefined && dataSourceRef !== undefined && !isSameSource(dataSource, dataSourceRef))
    // Upstream passes the path as the value.
    errors.invalid(path, {}, "must match dataSourceRef");
  validateClassName(volumeAttributesClassName, `${path}.volumeAttributesClassName`, errors);
}

/** Validates an optional class name. `""` means no class. */
function validateClassName(name: string | undefined, field: string, errors: FieldErrors): void {
  if (name) addInvalid(errors, field, name, dnsSubdomainErrors(name));
}

function isSameSource(a: DataSource, b: DataSource): boolean {
  return (a.apiGroup ?? "") === (b.apiGroup ?? "") && a.kind === b.kind && a.name === b.name;
}

function validateDataSource({ apiGroup, kind, name }: DataSource, path: string, errors: FieldErrors): void {
  if (!name) errors.required(`${path}.name`);
  if (!kind) errors.required(`${path}.kind`);
  if (apiGroup) addInvalid(errors, `${path}.apiGroup`, apiGroup, dnsSubdomainErrors(apiGroup));
  else if (kind !== "PersistentVolumeClaim")
    errors.invalid(path, kind, "must be 'PersistentVolumeClaim' when referencing the default apiGroup");
}
