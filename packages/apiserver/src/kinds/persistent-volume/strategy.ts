import { type PersistentVolume, formatTime, parseQuantity, persistentVolumes } from "@kubewright/api";
import { dnsSubdomainErrors } from "@kubewright/api/validation";

import { builtInResource } from "../../built-in-resource.js";
import type { FieldErrors } from "../../field-errors.js";
import { jsonEqual, restoreMember } from "../../json.js";
import type { ResourceStrategy } from "../../strategy.js";
import { FIELD_IS_IMMUTABLE, addInvalid, validateRequired, validateSupported } from "../../validation/rules.js";
import { memberDifference } from "../member-difference.js";
import { accessModesCell, validateAccessModes, validateVolumeMode } from "../persistent-volume-claim/access-modes.js";
import { validateAmounts } from "../persistent-volume-claim/storage-amounts.js";
import { validateNodeSelector } from "../pod/scheduling-validation.js";
import { sortedKeys } from "../sorted-keys.js";
import { classAnnotationWarnings, storageClassNameOf } from "../storage-class/storage-class-lookup.js";
import { ageCell, table } from "../table-cells.js";
import { volumeAdmission } from "./admission.js";
import { applyVolumeDefaults } from "./defaults.js";
import { SOURCES, validateVolumeSource } from "./source-validation.js";
import { volumeTypes } from "./types.js";

type VolumeSpec = NonNullable<PersistentVolume["spec"]>;

const RECLAIM_POLICIES = ["Delete", "Recycle", "Retain"];
const REMOVED_SOURCES: Readonly<Partial<Record<(typeof SOURCES)[number], string>>> = {
  cephfs: "deprecated in v1.28, non-functional in v1.31+",
  glusterfs: "deprecated in v1.25, non-functional in v1.26+",
  photonPersistentDisk: "deprecated in v1.11, non-functional in v1.16+",
  quobyte: "deprecated in v1.22, non-functional in v1.25+",
  rbd: "deprecated in v1.28, non-functional in v1.31+",
  scaleIO: "deprecated in v1.16, non-functional in v1.22+",
  storageos: "deprecated in v1.22, non-functional in v1.25+",
};
const emptySpec: VolumeSpec = {};

/** Upstream: `pkg/registry/core/persistentvolume`, `pkg/apis/core/validation`. */
export const persistentVolumeStrategy: ResourceStrategy<PersistentVolume> = {
  deleteReturnsObject: true,
  applyDefaults: applyVolumeDefaults,
  prepareForCreate(volume, { nowMs }) {
    volume.status = { phase: "Pending", lastPhaseTransitionTime: formatTime(nowMs) };
  },
  validate: validateVolume,
  warningsOnCreate: warnings,
  prepareForUpdate: (volume, stored) => restoreMember(volume, stored, "status"),
  validateUpdate: ({ spec = emptySpec }, stored, errors) => validateSpecUpdate(spec, stored.spec ?? emptySpec, errors),
  warningsOnUpdate: warnings,
  status: { prepareForUpdate: (volume, stored) => restoreMember(volume, stored, "spec") },
  printer: table<PersistentVolume>({
    Capacity: ({ spec }) => spec?.capacity?.["storage"] ?? "0",
    "Access Modes": ({ spec }) => accessModesCell(spec?.accessModes),
    "Reclaim Policy": ({ spec }) => spec?.persistentVolumeReclaimPolicy ?? "",
    Status: ({ metadata, status }) => (metadata.deletionTimestamp ? "Terminating" : (status?.phase ?? "")),
    Claim: ({ spec: { claimRef } = {} }) =>
      claimRef === undefined ? "" : `${claimRef.namespace ?? ""}/${claimRef.name ?? ""}`,
    StorageClass: (volume) => storageClassNameOf(volume) ?? "",
    VolumeAttributesClass: ({ spec }) => spec?.volumeAttributesClassName ?? "<unset>",
    Reason: ({ status }) => status?.reason ?? "",
    Age: ageCell,
    "VolumeMode*": ({ spec }) => spec?.volumeMode ?? "<unset>",
  }),
};

export const persistentVolumeResource = builtInResource<PersistentVolume>({
  definition: persistentVolumes,
  shortNames: ["pv"],
  types: volumeTypes,
  strategy: persistentVolumeStrategy,
  admission: volumeAdmission,
});

/** Upstream: `ValidatePersistentVolumeSpec`. */
function validateVolume({ spec = emptySpec }: PersistentVolume, errors: FieldErrors): void {
  const { accessModes = [], capacity, nodeAffinity, hostPath, volumeAttributesClassName } = spec;
  const policy = spec.persistentVolumeReclaimPolicy ?? "";
  if (accessModes.length === 0) errors.required("spec.accessModes");
  validateAccessModes(accessModes, "spec.accessModes", errors);
  validateCapacity(capacity, errors);
  validateSupported(policy || undefined, RECLAIM_POLICIES, "spec.persistentVolumeReclaimPolicy", errors);
  if (nodeAffinity !== undefined) {
    const field = "spec.nodeAffinity.required";
    if (nodeAffinity.required === undefined) errors.required(field, "must specify required node constraints");
    else validateNodeSelector(nodeAffinity.required, field, errors);
  }
  validateVolumeSource(spec, "spec", errors);
  if (hostPath !== undefined && policy === "Recycle" && isRoot(hostPath.path ?? ""))
    errors.forbidden("spec.persistentVolumeReclaimPolicy", "may not be 'recycle' for a hostPath mount of '/'");
  if (spec.storageClassName)
    addInvalid(errors, "spec.storageClassName", spec.storageClassName, dnsSubdomainErrors(spec.storageClassName));
  validateVolumeMode(spec.volumeMode, "spec.volumeMode", errors);
  if (volumeAttributesClassName === undefined) return;
  const field = "spec.volumeAttributesClassName";
  validateRequired(volumeAttributesClassName, dnsSubdomainErrors, field, errors, "an empty string is disallowed");
  if (spec.csi === undefined) errors.required("spec.csi", "has to be specified when using volumeAttributesClassName");
}

function validateCapacity(capacity: Readonly<Record<string, string>> | undefined, errors: FieldErrors): void {
  const entries = Object.entries(capacity ?? {});
  if (entries.length === 0) errors.required("spec.capacity");
  if (capacity?.["storage"] === undefined || entries.length > 1)
    errors.notSupported("spec.capacity", sortedKeys(capacity) ?? null, ["storage"]);
  for (const [name, text] of entries) {
    validateAmounts({ [name]: text }, "spec.capacity", errors);
    if ((parseQuantity(text)?.nanos ?? 0n) <= 0n)
      errors.invalid(`spec.capacity[${name}]`, text, "must be greater than zero");
  }
}

/** Whether the cleaned path is `/`. Upstream: `path.Clean`. */
function isRoot(path: string): boolean {
  let depth = 0;
  for (const part of path.split("/")) {
    if (part === "..") depth = Math.max(0, depth - 1);
    else if (part !== "" && part !== ".") depth++;
  }
  return path.startsWith("/") && depth === 0;
}

/** Upstream: `ValidatePersistentVolumeUpdate`. */
function validateSpecUpdate(spec: VolumeSpec, stored: VolumeSpec, errors: FieldErrors): void {
  const source = sourceOf(spec);
  const before = sourceOf(stored);
  // The secret reference for expansion may be set after creation.
  if (before.csi !== undefined && source.csi !== undefined && before.csi.controllerExpandSecretRef === undefined) {
    source.csi = { ...source.csi };
    delete source.csi.controllerExpandSecretRef;
  }
  if (!jsonEqual(source, before)) {
    const field = "spec.persistentvolumesource";
    errors.forbidden(field, `${field} is immutable after creation\n${memberDifference(source, before)}`);
  }
  if (spec.volumeMode !== stored.volumeMode) errors.invalid("volumeMode", spec.volumeMode ?? null, FIELD_IS_IMMUTABLE);
  if (stored.nodeAffinity !== undefined && !jsonEqual(spec.nodeAffinity, stored.nodeAffinity))
    errors.invalid(
      "nodeAffinity",
      spec.nodeAffinity ?? null,
      "field is immutable, except for updating from beta label to GA",
    );
}

function sourceOf(spec: VolumeSpec): Pick<VolumeSpec, (typeof SOURCES)[number]> {
  return Object.fromEntries(SOURCES.flatMap((name) => (spec[name] === undefined ? [] : [[name, spec[name]]])));
}

/** Upstream: `pkg/api/persistentvolume` `GetWarningsForPersistentVolume`. */
function warnings(volume: PersistentVolume): string[] {
  const { spec = emptySpec } = volume;
  const found = classAnnotationWarnings(volume);
  if (spec.persistentVolumeReclaimPolicy === "Recycle")
    found.push(
      "spec.persistentVolumeReclaimPolicy: The Recycle reclaim policy is deprecated. Instead, the recommended approach is to use dynamic provisioning.",
    );
  for (const [source, sentence] of Object.entries(REMOVED_SOURCES))
    if (spec[source as keyof VolumeSpec] !== undefined) found.push(`spec.${source}: ${sentence}`);
  return found;
}
