import { type StorageClass, storageClasses } from "@kubewright/api";
import { byteLength, labelKeyErrors, qualifiedNameErrors } from "@kubewright/api/validation";

import { builtInResource } from "../../built-in-resource.js";
import type { FieldErrors } from "../../field-errors.js";
import { jsonEqual } from "../../json.js";
import type { ResourceStrategy } from "../../strategy.js";
import {
  FIELD_IS_IMMUTABLE,
  addInvalid,
  validateRequired,
  validateSupported,
  validateUnique,
} from "../../validation/rules.js";
import { ageCell, table } from "../table-cells.js";
import { isDefaultClass } from "./storage-class-lookup.js";
import { storageClassTypes } from "./types.js";

type Topologies = NonNullable<StorageClass["allowedTopologies"]>;
type Expression = NonNullable<Topologies[number]["matchLabelExpressions"]>[number];

const RECLAIM_POLICIES = ["Delete", "Retain"];
const BINDING_MODES = ["Immediate", "WaitForFirstConsumer"];
const MAX_PARAMETERS = 512;
const MAX_PARAMETER_BYTES = 256 * 1024;
const IMMUTABLE = ["parameters", "provisioner", "reclaimPolicy", "volumeBindingMode"] as const;

/** Upstream: `pkg/registry/storage/storageclass`, `pkg/apis/storage/validation`. */
export const storageClassStrategy: ResourceStrategy<StorageClass> = {
  applyDefaults(storageClass) {
    storageClass.reclaimPolicy ??= "Delete";
    storageClass.volumeBindingMode ??= "Immediate";
  },
  validate: validateStorageClass,
  validateUpdate(storageClass, stored, errors) {
    for (const field of IMMUTABLE)
      if (!jsonEqual(storageClass[field], stored[field]))
        errors.invalid(field, storageClass[field], FIELD_IS_IMMUTABLE);
  },
  printer: table<StorageClass>({
    Name: (storageClass) => `${storageClass.metadata.name}${isDefaultClass(storageClass) ? " (default)" : ""}`,
    Provisioner: (storageClass) => storageClass.provisioner,
    ReclaimPolicy: (storageClass) => storageClass.reclaimPolicy ?? "Delete",
    VolumeBindingMode: (storageClass) => storageClass.volumeBindingMode ?? "<unset>",
    AllowVolumeExpansion: (storageClass) => storageClass.allowVolumeExpansion ?? false,
    Age: ageCell,
  }),
};

export const storageClassResource = builtInResource<StorageClass>({
  definition: storageClasses,
  shortNames: ["sc"],
  types: storageClassTypes,
  strategy: storageClassStrategy,
});

function validateStorageClass(storageClass: StorageClass, errors: FieldErrors): void {
  const { reclaimPolicy, volumeBindingMode } = storageClass;
  const provisioner = (storageClass.provisioner ?? "").toLowerCase();
  validateRequired(provisioner, qualifiedNameErrors, "provisioner", errors);
  validateParameters(storageClass.parameters ?? {}, errors);
  validateSupported(reclaimPolicy || undefined, RECLAIM_POLICIES, "reclaimPolicy", errors);
  if (volumeBindingMode === undefined) errors.required("volumeBindingMode");
  validateSupported(volumeBindingMode, BINDING_MODES, "volumeBindingMode", errors);
  validateTopologies(storageClass.allowedTopologies ?? [], errors);
}

function validateParameters(parameters: Readonly<Record<string, string>>, errors: FieldErrors): void {
  const entries = Object.entries(parameters);
  if (entries.length > MAX_PARAMETERS) errors.tooLong("parameters", MAX_PARAMETERS);
  let bytes = 0;
  for (const [name, value] of entries) {
    if (name === "") errors.invalid("parameters", name, "field can not be empty.");
    bytes += byteLength(name) + byteLength(value);
  }
  if (bytes > MAX_PARAMETER_BYTES) errors.tooLong("parameters", MAX_PARAMETER_BYTES);
}

/** Upstream: `validateAllowedTopologies`. */
function validateTopologies(topologies: Topologies, errors: FieldErrors): void {
  // Upstream treats a first topology without expressions as a duplicate.
  const seen = new Set<string>(topologies.length > 0 ? [sortedValues(new Map())] : []);
  for (const [index, { matchLabelExpressions = [] }] of topologies.entries()) {
    const path = `allowedTopologies[${index}].matchLabelExpressions`;
    const byKey = new Map<string, readonly string[]>();
    for (const [place, expression] of matchLabelExpressions.entries()) {
      validateExpression(expression, `${path}[${place}]`, errors);
      if (byKey.has(expression.key)) errors.duplicate(`${path}[${place}].key`, expression.key);
      byKey.set(expression.key, expression.values ?? []);
    }
    const term = sortedValues(byKey);
    if (seen.has(term)) errors.duplicate(path, "");
    seen.add(term);
  }
}

function sortedValues(byKey: ReadonlyMap<string, readonly string[]>): string {
  return JSON.stringify([...byKey.keys()].sort().map((key) => [key, [...new Set(byKey.get(key))].sort()]));
}

function validateExpression({ key, values }: Expression, path: string, errors: FieldErrors): void {
  if ((values ?? []).length === 0) errors.required(`${path}.values`);
  const seen = new Set<string>();
  for (const [index, value] of (values ?? []).entries()) {
    validateUnique(value, seen, `${path}.values[${index}]`, errors);
  }
  addInvalid(errors, `${path}.key`, key, labelKeyErrors(key));
}
