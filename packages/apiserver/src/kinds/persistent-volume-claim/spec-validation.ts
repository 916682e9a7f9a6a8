import type { PersistentVolumeClaim } from "@kubewright/api";

import type { FieldErrors } from "../../field-errors.js";
import { dnsSubdomainErrors } from "../../names.js";
import { parseQuantity } from "../../quantity.js";
import { validateLabelSelector } from "../../validation/label-selector.js";
import { addInvalid } from "../../validation/rules.js";

type ClaimSpec = NonNullable<PersistentVolumeClaim["spec"]>;

const ACCESS_MODES = ["ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod"];
const VOLUME_MODES = ["Block", "Filesystem"];

/** Upstream: `ValidatePersistentVolumeClaimSpec` of `pkg/apis/core/validation`. */
export function validateClaimSpec(spec: ClaimSpec, path: string, errors: FieldErrors): void {
  const { accessModes = [], resources, storageClassName, volumeMode } = spec;
  if (accessModes.length === 0) errors.required(`${path}.accessModes`, "at least 1 access mode is required");
  if (spec.selector !== undefined) validateLabelSelector(spec.selector, `${path}.selector`, errors);
  for (const mode of accessModes)
    if (!ACCESS_MODES.includes(mode)) errors.notSupported(`${path}.accessModes`, mode, ACCESS_MODES);
  if (accessModes.length > 1 && accessModes.includes("ReadWriteOncePod"))
    errors.forbidden(`${path}.accessModes`, "may not use ReadWriteOncePod with other access modes");
  const storage = resources?.requests?.["storage"];
  if (storage === undefined) errors.required(`${path}.resources[storage]`);
  else if ((parseQuantity(storage)?.nanos ?? 1n) <= 0n)
    errors.invalid(`${path}.resources[storage]`, storage, "must be greater than zero");
  if (storageClassName)
    addInvalid(errors, `${path}.storageClassName`, storageClassName, dnsSubdomainErrors(storageClassName));
  if (volumeMode !== undefined && !VOLUME_MODES.includes(volumeMode))
    errors.notSupported(`${path}.volumeMode`, volumeMode, VOLUME_MODES);
}
