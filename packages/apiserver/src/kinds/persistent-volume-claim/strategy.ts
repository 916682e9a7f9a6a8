import { type PersistentVolumeClaim, persistentVolumeClaims } from "@kubewright/api";

import { builtInResource } from "../../built-in-resource.js";
import type { FieldErrors } from "../../field-errors.js";
import { jsonEqual, restoreMember } from "../../json.js";
import type { ResourceStrategy } from "../../strategy.js";
import { FIELD_IS_IMMUTABLE } from "../../validation/rules.js";
import { memberDifference } from "../member-difference.js";
import {
  CLASS_ANNOTATION,
  classAnnotationWarnings,
  storageClassNameOf,
} from "../storage-class/storage-class-lookup.js";
import { ageCell, table } from "../table-cells.js";
import { accessModesCell } from "./access-modes.js";
import { claimAdmission } from "./admission.js";
import { validateClaimSpec } from "./spec-validation.js";
import { storageOf, validateAmounts } from "./storage-amounts.js";
import { claimTypes } from "./types.js";

type ClaimSpec = NonNullable<PersistentVolumeClaim["spec"]>;

const emptySpec: ClaimSpec = {};

/** Upstream: `pkg/registry/core/persistentvolumeclaim`, `pkg/apis/core/validation`. */
export const persistentVolumeClaimStrategy: ResourceStrategy<PersistentVolumeClaim> = {
  deleteReturnsObject: true,
  applyDefaults(claim, stored) {
    if (claim.status !== undefined && claim.status !== stored?.status) claim.status.phase ||= "Pending";
    if (claim.spec !== undefined && claim.spec !== stored?.spec) claim.spec.volumeMode ??= "Filesystem";
  },
  prepareForCreate(claim) {
    claim.status = { phase: "Pending" };
    mirrorDataSources(claim);
  },
  validate: ({ spec = emptySpec }, errors) => validateClaimSpec(spec, "spec", errors),
  warningsOnCreate: warnings,
  prepareForUpdate(claim, stored) {
    restoreMember(claim, stored, "status");
    if (claim.spec !== stored.spec) mirrorDataSources(claim);
  },
  validateUpdate: validateSpecUpdate,
  warningsOnUpdate: warnings,
  status: {
    prepareForUpdate: (claim, stored) => restoreMember(claim, stored, "spec"),
    validateUpdate({ status }, _stored, errors) {
      validateAmounts(status?.capacity, "status.capacity", errors);
      validateAmounts(status?.allocatedResources, "status.allocatedResources", errors);
    },
  },
  printer: table<PersistentVolumeClaim>({
    Status: ({ metadata, status }) => (metadata.deletionTimestamp ? "Terminating" : (status?.phase ?? "")),
    Volume: ({ spec }) => spec?.volumeName ?? "",
    Capacity: ({ spec, status }) => (spec?.volumeName ? (status?.capacity?.["storage"] ?? "0") : ""),
    "Access Modes": ({ spec, status }) => (spec?.volumeName ? accessModesCell(status?.accessModes) : ""),
    StorageClass: (claim) => storageClassNameOf(claim) ?? "",
    VolumeAttributesClass: ({ spec }) => spec?.volumeAttributesClassName ?? "<unset>",
    Age: ageCell,
    "VolumeMode*": ({ spec }) => spec?.volumeMode ?? "<unset>",
  }),
};

export const persistentVolumeClaimResource = builtInResource<PersistentVolumeClaim>({
  definition: persistentVolumeClaims,
  shortNames: ["pvc"],
  types: claimTypes,
  strategy: persistentVolumeClaimStrategy,
  admission: claimAdmission,
});

/** Copies the data source that is set to the one that is not. Upstream: `NormalizeDataSources`. */
function mirrorDataSources(claim: PersistentVolumeClaim): void {
  if (claim.spec?.dataSource === undefined && claim.spec?.dataSourceRef === undefined) return;
  const spec = (claim.spec = { ...claim.spec });
  if (spec.dataSourceRef?.namespace !== undefined) {
    // Upstream's feature gate for data sources in other namespaces is off, so the field is dropped.
    spec.dataSourceRef = { ...spec.dataSourceRef };
    delete spec.dataSourceRef.namespace;
  }
  if (spec.dataSource === undefined) spec.dataSource = { ...spec.dataSourceRef! };
  else if (spec.dataSourceRef === undefined) spec.dataSourceRef = { ...spec.dataSource };
}

/** Upstream: `ValidatePersistentVolumeClaimUpdate`. */
function validateSpecUpdate(claim: PersistentVolumeClaim, stored: PersistentVolumeClaim, errors: FieldErrors): void {
  const { spec = emptySpec } = claim;
  const { spec: before = emptySpec } = stored;
  const annotation = claim.metadata.annotations?.[CLASS_ANNOTATION];
  const annotationBefore = stored.metadata.annotations?.[CLASS_ANNOTATION];
  const becameField = annotationBefore !== undefined && before.storageClassName === undefined;
  const isUpgrade = becameField && annotation === undefined && spec.storageClassName === annotationBefore;
  if (!isUpgrade && annotation !== annotationBefore)
    errors.invalid(`metadata.annotations[${CLASS_ANNOTATION}]`, annotation ?? "", FIELD_IS_IMMUTABLE);
  const allowed = { ...before };
  if (!before.volumeName) restoreMember(allowed, spec, "volumeName");
  // The default class may be set after creation.
  if (before.storageClassName === undefined && (isUpgrade || annotationBefore === undefined))
    restoreMember(allowed, spec, "storageClassName");
  if (stored.status?.phase === "Bound") {
    if (spec.resources?.requests !== undefined) allowed.resources = withStorageOf(before, spec);
    if (spec.volumeAttributesClassName !== undefined) restoreMember(allowed, spec, "volumeAttributesClassName");
  }
  if (!jsonEqual(spec, allowed)) {
    const sentence =
      "spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims";
    errors.forbidden("spec", `${sentence}\n${memberDifference(spec, allowed)}`);
  }
  const size = storageOf(spec.resources?.requests);
  // The request may be reduced while the volume is smaller than the new request.
  if (size < storageOf(before.resources?.requests) && size <= storageOf(stored.status?.capacity))
    errors.forbidden("spec.resources.requests.storage", "field can not be less than status.capacity");
  if (spec.volumeMode !== before.volumeMode) errors.invalid("volumeMode", spec.volumeMode ?? null, FIELD_IS_IMMUTABLE);
}

function withStorageOf(before: ClaimSpec, spec: ClaimSpec): NonNullable<ClaimSpec["resources"]> {
  const requests = { ...before.resources?.requests };
  const storage = spec.resources?.requests?.["storage"];
  if (storage !== undefined) requests["storage"] = storage;
  return { ...before.resources, requests };
}

/** Upstream: `GetWarningsForPersistentVolumeClaim`. */
function warnings(claim: PersistentVolumeClaim): string[] {
  const { spec } = claim;
  const found = classAnnotationWarnings(claim);
  for (const member of ["requests", "limits"] as const) {
    const text = spec?.resources?.[member]?.["storage"];
    if (text !== undefined && storageOf({ storage: text }) % 1_000_000_000n !== 0n)
      found.push(
        `spec.resources.${member}[storage]: fractional byte value ${JSON.stringify(text)} is invalid, must be an integer`,
      );
  }
  return found;
}
