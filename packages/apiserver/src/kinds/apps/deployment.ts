import { type Deployment, deployments } from "@kubewright/api";

import { builtInResource } from "../../built-in-resource.js";
import type { FieldErrors } from "../../field-errors.js";
import { jsonEqual, restoreMember } from "../../json.js";
import type { ResourceStrategy } from "../../strategy.js";
import { intOrPercentValue, validateAtMost100Percent, validateIntOrPercent } from "../../validation/int-or-percent.js";
import { validateNonNegative } from "../../validation/rules.js";
import { applyPodTemplateDefaults } from "../pod/template-defaults.js";
import { internalForm } from "../internal-form.js";
import { ageCell, containerColumns, selectorCell, table } from "../table-cells.js";
import { workloadScale } from "./scale.js";
import { appsTypes } from "./types.js";
import { workloadStrategy } from "./workload-strategy.js";
import {
  validateCollisionCount,
  validateCounts,
  validateLongRunningTemplate,
  validateReplicaCounts,
  validateSelectorAndTemplate,
  validateSelectorUnchanged,
} from "./workload-validation.js";

const STRATEGIES = ["Recreate", "RollingUpdate"];
const emptySpec: NonNullable<Deployment["spec"]> = { selector: {}, template: {} };

/** Upstream: `pkg/registry/apps/deployment`, `pkg/apis/apps/validation`. */
export const deploymentStrategy: ResourceStrategy<Deployment> = {
  ...workloadStrategy<Deployment>(() => ({}), validateStatus),
  applyDefaults,
  validate: validateDeployment,
  validateUpdate: validateSelectorUnchanged,
  // The controller copies the annotations to ReplicaSets, so changed annotations bump the generation too.
  bumpsGeneration: (deployment, stored) =>
    !jsonEqual(deployment.spec, stored.spec) ||
    !jsonEqual(deployment.metadata.annotations ?? {}, stored.metadata.annotations ?? {}),
  status: {
    prepareForUpdate(deployment, stored) {
      restoreMember(deployment, stored, "spec");
      restoreMember(deployment.metadata, stored.metadata, "labels");
    },
    validateUpdate: validateStatus,
  },
  printer: table<Deployment>({
    Ready: ({ spec, status = {} }) => `${status.readyReplicas ?? 0}/${spec?.replicas ?? 0}`,
    "Up-to-date": ({ status = {} }) => status.updatedReplicas ?? 0,
    Available: ({ status = {} }) => status.availableReplicas ?? 0,
    Age: ageCell,
    ...containerColumns(({ spec }) => spec?.template.spec),
    "Selector*": ({ spec }) => selectorCell(spec?.selector),
  }),
};

export const deploymentResource = builtInResource<Deployment>({
  definition: deployments,
  shortNames: ["deploy"],
  categories: ["all"],
  types: appsTypes,
  strategy: deploymentStrategy,
  subresources: { scale: workloadScale },
});

function applyDefaults({ spec }: Deployment, stored?: Deployment): void {
  if (spec === undefined || spec === stored?.spec) return;
  spec.replicas ??= 1;
  const strategy = (spec.strategy ??= {});
  strategy.type ||= "RollingUpdate";
  if (strategy.type === "RollingUpdate") {
    const rollingUpdate = (strategy.rollingUpdate ??= {});
    rollingUpdate.maxUnavailable ??= "25%";
    rollingUpdate.maxSurge ??= "25%";
  }
  spec.revisionHistoryLimit ??= 10;
  spec.progressDeadlineSeconds ??= 600;
  applyPodTemplateDefaults(spec.template);
}

function validateDeployment({ spec = emptySpec }: Deployment, errors: FieldErrors): void {
  const { minReadySeconds = 0, progressDeadlineSeconds } = spec;
  validateNonNegative(spec.replicas, "spec.replicas", errors);
  validateSelectorAndTemplate(spec, "deployment", errors, (template) => {
    validateLongRunningTemplate(template, "ReplicaSet", errors);
  });
  validateStrategy(spec.strategy ?? {}, errors);
  validateNonNegative(minReadySeconds, "spec.minReadySeconds", errors);
  validateNonNegative(spec.revisionHistoryLimit, "spec.revisionHistoryLimit", errors);
  if (progressDeadlineSeconds === undefined) return;
  validateNonNegative(progressDeadlineSeconds, "spec.progressDeadlineSeconds", errors);
  if (progressDeadlineSeconds <= minReadySeconds)
    errors.invalid("spec.progressDeadlineSeconds", progressDeadlineSeconds, "must be greater than minReadySeconds");
}

function validateStrategy(
  strategy: NonNullable<NonNullable<Deployment["spec"]>["strategy"]>,
  errors: FieldErrors,
): void {
  const { type, rollingUpdate } = strategy;
  const path = "spec.strategy.rollingUpdate";
  if (type === undefined || !STRATEGIES.includes(type))
    errors.notSupported("spec.strategy", internalForm("DeploymentStrategy", strategy), STRATEGIES);
  else if (type === "Recreate") {
    if (rollingUpdate !== undefined) errors.forbidden(path, "may not be specified when strategy `type` is 'Recreate'");
  } else if (rollingUpdate === undefined) errors.required(path, "this should be defaulted and never be nil");
  else {
    const { maxUnavailable, maxSurge } = rollingUpdate;
    validateIntOrPercent(maxUnavailable, `${path}.maxUnavailable`, errors);
    validateIntOrPercent(maxSurge, `${path}.maxSurge`, errors);
    if (intOrPercentValue(maxUnavailable) === 0 && intOrPercentValue(maxSurge) === 0)
      errors.invalid(`${path}.maxUnavailable`, maxUnavailable, "may not be 0 when `maxSurge` is 0");
    validateAtMost100Percent(maxUnavailable, `${path}.maxUnavailable`, errors);
  }
}

function validateStatus({ status = {} }: Deployment, stored: Deployment, errors: FieldErrors): void {
  validateCounts(
    status,
    [
      "observedGeneration",
      "replicas",
      "updatedReplicas",
      "readyReplicas",
      "availableReplicas",
      "unavailableReplicas",
      "terminatingReplicas",
      "collisionCount",
    ],
    errors,
  );
  validateReplicaCounts(status, ["updatedReplicas", "readyReplicas", "availableReplicas"], "readyReplicas", errors);
  validateCollisionCount(status, stored.status, errors);
}
