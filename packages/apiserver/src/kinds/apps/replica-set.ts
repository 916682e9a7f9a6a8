import { type ReplicaSet, replicaSets } from "@kubewright/api";

import { builtInResource } from "../../built-in-resource.js";
import type { FieldErrors } from "../../field-errors.js";
import { jsonEqual, restoreMember } from "../../json.js";
import type { ResourceStrategy } from "../../strategy.js";
import { validateNonNegative } from "../../validation/rules.js";
import { podNamePrefixWarnings } from "../job/warnings.js";
import { applyPodTemplateDefaults } from "../pod/template-defaults.js";
import { podTemplateWarnings } from "../pod/warnings.js";
import { specAndStatus } from "../spec-and-status.js";
import { ageCell, containerColumns, selectorCell, table } from "../table-cells.js";
import { workloadScale } from "./scale.js";
import { appsTypes } from "./types.js";
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
  ...specAndStatus<ReplicaSet>(() => ({ replicas: 0 })),
  applyDefaults({ spec }, stored) {
    if (spec === undefined || spec === stored?.spec) return;
    spec.replicas ??= 1;
    applyPodTemplateDefaults(spec.template);
  },
  podTemplate: ({ spec }) => spec?.template,
  validateCreate: validateReplicaSet,
  warningsOnCreate: ({ metadata, spec }) => [
    ...podNamePrefixWarnings(metadata.name ?? ""),
    ...podTemplateWarnings(spec?.template, "spec.template"),
  ],
  validateUpdate(replicaSet, stored, errors) {
    validateReplicaSet(replicaSet, errors);
    validateSelectorUnchanged(replicaSet.spec?.selector, stored.spec?.selector, errors);
  },
  warningsOnUpdate: ({ spec }, stored) =>
    jsonEqual(spec, stored.spec) ? [] : podTemplateWarnings(spec?.template, "spec.template"),
  status: {
    prepareForUpdate: (replicaSet, stored) => restoreMember(replicaSet, stored, "spec"),
    validateUpdate: ({ status = { replicas: 0 } }, _stored, errors) => validateReplicaSetStatus(status, errors),
  },
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
export function validateReplicaSetStatus(status: NonNullable<ReplicaSet["status"]>, errors: FieldErrors): void {
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
