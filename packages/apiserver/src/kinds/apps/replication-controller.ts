import { type ReplicationController, replicationControllers } from "@kubewright/api";

import { builtInResource } from "../../built-in-resource.js";
import type { FieldErrors } from "../../field-errors.js";
import type { ResourceStrategy } from "../../strategy.js";
import { validateNonNegative } from "../../validation/rules.js";
import { applyPodTemplateDefaults } from "../pod/template-defaults.js";
import { ageCell, containerColumns, selectorCell, table } from "../table-cells.js";
import { validateReplicaSetStatus } from "./replica-set.js";
import { workloadScale } from "./scale.js";
import { appsTypes } from "./types.js";
import { workloadStrategy } from "./workload-strategy.js";
import { validateLongRunningTemplate, validateMatch } from "./workload-validation.js";

/** Upstream: `pkg/registry/core/replicationcontroller`, `ValidateReplicationController` of `pkg/apis/core/validation`. */
export const replicationControllerStrategy: ResourceStrategy<ReplicationController> = {
  ...workloadStrategy<ReplicationController>(() => ({ replicas: 0 }), validateReplicaSetStatus),
  applyDefaults,
  validate: validateReplicationController,
  defaultPropagation: "Orphan",
  fieldSelectors: { "status.replicas": ({ status }) => String(status?.replicas ?? 0) },
  printer: table<ReplicationController>({
    "Desired:integer": ({ spec }) => spec?.replicas ?? 0,
    "Current:integer": ({ status }) => status?.replicas ?? 0,
    "Ready:integer": ({ status }) => status?.readyReplicas ?? 0,
    Age: ageCell,
    ...containerColumns(({ spec }) => spec?.template?.spec),
    "Selector*": ({ spec }) => selectorCell({ matchLabels: spec?.selector ?? {} }),
  }),
};

export const replicationControllerResource = builtInResource<ReplicationController>({
  definition: replicationControllers,
  shortNames: ["rc"],
  categories: ["all"],
  types: appsTypes,
  strategy: replicationControllerStrategy,
  subresources: { scale: workloadScale },
});

/** Defaults the selector and the controller's labels to the template's labels. */
function applyDefaults({ metadata, spec }: ReplicationController, stored?: ReplicationController): void {
  if (spec === undefined) return;
  const labels = spec.template?.metadata?.labels;
  if (labels !== undefined && isEmpty(metadata.labels)) metadata.labels = { ...labels };
  if (spec === stored?.spec) return;
  if (labels !== undefined && isEmpty(spec.selector)) spec.selector = { ...labels };
  spec.replicas ??= 1;
  applyPodTemplateDefaults(spec.template);
}

function validateReplicationController({ spec = {} }: ReplicationController, errors: FieldErrors): void {
  const { selector = {}, template } = spec;
  validateNonNegative(spec.minReadySeconds, "spec.minReadySeconds", errors);
  if (isEmpty(selector)) errors.required("spec.selector");
  validateNonNegative(spec.replicas, "spec.replicas", errors);
  if (template === undefined) {
    errors.required("spec.template");
    return;
  }
  if (!isEmpty(selector)) validateMatch({ matchLabels: selector }, template, errors);
  validateLongRunningTemplate(template, "ReplicationController", errors);
}

function isEmpty(map: Readonly<Record<string, string>> = {}): boolean {
  return Object.keys(map).length === 0;
}
