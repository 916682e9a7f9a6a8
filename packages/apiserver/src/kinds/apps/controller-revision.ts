import { type ControllerRevision, controllerRevisions } from "@kubewright/api";

import { builtInResource } from "../../built-in-resource.js";
import type { FieldErrors } from "../../field-errors.js";
import { jsonEqual } from "../../json.js";
import type { ResourceStrategy } from "../../strategy.js";
import { FIELD_IS_IMMUTABLE, validateNonNegative } from "../../validation/rules.js";
import { sortedKeys } from "../sorted-keys.js";
import { ageCell, table } from "../table-cells.js";
import { appsTypes } from "./types.js";

/** Upstream: `pkg/registry/apps/controllerrevision`. */
const controllerRevisionStrategy: ResourceStrategy<ControllerRevision> = {
  validate: validateControllerRevision,
  validateUpdate(revision, stored, errors) {
    if (!jsonEqual(revision.data, stored.data))
      errors.invalid("data", sortedKeys(revision.data as Record<string, unknown> | undefined), FIELD_IS_IMMUTABLE);
  },
  printer: table<ControllerRevision>({
    Controller: ({ metadata }) => controllerCell(metadata),
    Revision: ({ revision }) => revision,
    Age: ageCell,
  }),
};

export const controllerRevisionResource = builtInResource<ControllerRevision>({
  definition: controllerRevisions,
  types: appsTypes,
  strategy: controllerRevisionStrategy,
});

function validateControllerRevision({ data, revision }: ControllerRevision, errors: FieldErrors): void {
  if (data === undefined || data === null) errors.required("data", "data is mandatory");
  validateNonNegative(revision, "revision", errors);
}

/** Formats the controller owner: `daemonset.apps/d`. */
function controllerCell({ ownerReferences = [] }: ControllerRevision["metadata"]): string {
  const owner = ownerReferences.find(({ controller }) => controller === true);
  if (owner === undefined) return "<none>";
  const slash = owner.apiVersion.indexOf("/");
  const group = slash < 0 ? "" : `.${owner.apiVersion.slice(0, slash)}`;
  return `${owner.kind.toLowerCase()}${group}/${owner.name}`;
}
