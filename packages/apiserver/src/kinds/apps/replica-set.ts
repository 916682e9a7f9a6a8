import { type ReplicaSet, replicaSets } from "@kubewright/api";

import { builtInResource } from "../../built-in-resource.js";
import type { FieldErrors } from "../../field-errors.js";
import type { ResourceStrategy } from "../../strategy.js";
import { validateNonNegative } from "../../validation/rules.js";
import { applyPodTemplateDefaults } from "../pod/template-defaults.js";
import { ageCell, containerColumns, selectorCell, table } from "../table-cells.js";
import { workloadScale } from "./scale.js";
import { appsTypes } from "./types.js";
import { workloadStrategy } from "./workload-strategy.js";
import {
  validateCounts,
  validateLongRunningTemplate,
  validateReplicaCounts,
  validateSelectorAndTemplate,
  validateSelectorUnchanged,
} from "./workload-validation.js";

const emptySpec: NonNullable<ReplicaSet["spec"]> = { selector: {} };

/** Upstream: `pkg/registry/apps/replicaset`, `pkg/apis/apps/validation`. */
export const replicaSetStrategy: ResourceStrategy<ReplicaSet> = {
  ...workloadStrategy<ReplicaSet>(() => ({ replicas: 0 }), validateReplicaSetStatus),
  applyDefaults({ spec }, stored) {
    if (spec === undefined || spec === stored?.spec) return;
    spec.replicas ??= 1;
    applyPodTemplateDefaults(spec.template);
  },
  validate: validateReplicaSet,
  validateUpdate: validateSelectorUnchanged,
  printer: table<ReplicaSet>({
    "Desired:integer": ({ spec }) => spec?.replicas ?? 0,
    "Current:integer": ({ status }) => status?.replicas ?? 0,
    "Ready:integer": ({ status }) => status?.readyReplicas ?? 0,
    Age: ageCell,
    ...containerColumns(({ spec }) => spec?.template?.spec),
    "Selector*": ({ spec }) => selectorCell(spec?.selector),
  }),
};

export const replicaSetResource = builtInResource<ReplicaSet>({
  definition: replicaSets,
  shortNames: ["rs"],
  categories: ["all"],
  types: appsTypes,
  strategy: replicaSetStrategy,
  subresources: { scale: workloadScale },
});

function validateReplicaSet({ spec = emptySpec }: ReplicaSet, errors: FieldErrors): void {
  validateNonNegative(spec.replicas, "spec.replicas", errors);
  validateNonNegative(spec.minReadySeconds, "spec.minReadySeconds", errors);
  // Upstream also passes `deployment` here.
  validateSelectorAndTemplate(spec, "deployment", errors, (template) => {
    validateLongRunningTemplate(template, "ReplicaSet", errors);
  });
}

/** Validates the status of a ReplicaSet or ReplicationController, which have the same counts. */
export function validateReplicaSetStatus(
  { status = { replicas: 0 } }: Pick<ReplicaSet, "status">,
  _stored: unknown,
  errors: FieldErrors,
): void {
  validateCounts(
    status,
    [
      "replicas",
      "fullyLabeledReplicas",
      "readyReplicas",
      "availableReplicas",
      "terminatingReplicas",
      "observedGeneration",
    ],
    errors,
  );
  validateReplicaCounts(
    status,
    ["fullyLabeledReplicas", "readyReplicas", "availableReplicas"],
    "readyReplicas",
    errors,
  );
}
