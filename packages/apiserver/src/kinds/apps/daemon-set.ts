import { type DaemonSet, daemonSets } from "@kubewright/api";

import { builtInResource } from "../../built-in-resource.js";
import { FieldErrors } from "../../field-errors.js";
import { jsonEqual } from "../../json.js";
import type { ResourceStrategy } from "../../strategy.js";
import { validateLabelSelector } from "../../validation/label-selector.js";
import { intOrPercentValue, validateAtMost100Percent, validateIntOrPercent } from "../../validation/int-or-percent.js";
import { validateNonNegative } from "../../validation/rules.js";
import { applyPodTemplateDefaults } from "../pod/template-defaults.js";
import { podTemplateWarnings } from "../pod/warnings.js";
import { internalForm } from "../internal-form.js";
import { ageCell, containerColumns, selectorCell, table } from "../table-cells.js";
import { appsTypes } from "./types.js";
import { workloadStrategy } from "./workload-strategy.js";
import {
  validateCollisionCount,
  validateCounts,
  validateLongRunningTemplate,
  validateMatch,
  validateNotEmpty,
  validateSelectorUnchanged,
} from "./workload-validation.js";

const TEMPLATE_GENERATION = "deprecated.daemonset.template.generation";
const STRATEGIES = ["RollingUpdate", "OnDelete"];
const emptySpec: NonNullable<DaemonSet["spec"]> = { selector: {}, template: {} };
const newStatus: NonNullable<DaemonSet["status"]> = {
  currentNumberScheduled: 0,
  numberMisscheduled: 0,
  desiredNumberScheduled: 0,
  numberReady: 0,
};
const baseStrategy = workloadStrategy<DaemonSet>(() => ({ ...newStatus }), validateStatus);

/** Upstream: `pkg/registry/apps/daemonset`, `pkg/apis/apps/validation`. */
export const daemonSetStrategy: ResourceStrategy<DaemonSet> = {
  ...baseStrategy,
  applyDefaults,
  prepareForCreate(daemonSet, context) {
    baseStrategy.prepareForCreate(daemonSet, context);
    setTemplateGeneration(daemonSet, Math.max(templateGeneration(daemonSet), 1));
  },
  validateCreate: validateDaemonSet,
  warningsOnCreate: ({ spec }) => podTemplateWarnings(spec?.template, "spec.template"),
  prepareForUpdate(daemonSet, stored) {
    baseStrategy.prepareForUpdate(daemonSet, stored);
    const changes = jsonEqual(daemonSet.spec?.template, stored.spec?.template) ? 0 : 1;
    setTemplateGeneration(daemonSet, templateGeneration(stored) + changes);
  },
  validateUpdate(daemonSet, stored, errors) {
    validateSelectorUnchanged(daemonSet, stored, errors);
    validateDaemonSet(daemonSet, errors);
  },
  printer: table<DaemonSet>({
    "Desired:integer": ({ status = newStatus }) => status.desiredNumberScheduled,
    "Current:integer": ({ status = newStatus }) => status.currentNumberScheduled,
    "Ready:integer": ({ status = newStatus }) => status.numberReady,
    "Up-to-date:integer": ({ status = newStatus }) => status.updatedNumberScheduled ?? 0,
    "Available:integer": ({ status = newStatus }) => status.numberAvailable ?? 0,
    "Node Selector": ({ spec }) => selectorCell({ matchLabels: spec?.template.spec?.nodeSelector ?? {} }),
    Age: ageCell,
    ...containerColumns(({ spec }) => spec?.template.spec),
    "Selector*": ({ spec }) => selectorCell(spec?.selector),
  }),
};

export const daemonSetResource = builtInResource<DaemonSet>({
  definition: daemonSets,
  shortNames: ["ds"],
  categories: ["all"],
  types: appsTypes,
  strategy: daemonSetStrategy,
});

function applyDefaults({ spec }: DaemonSet, stored?: DaemonSet): void {
  if (spec === undefined || spec === stored?.spec) return;
  const strategy = (spec.updateStrategy ??= {});
  strategy.type ||= "RollingUpdate";
  if (strategy.type === "RollingUpdate") {
    const rollingUpdate = (strategy.rollingUpdate ??= {});
    rollingUpdate.maxUnavailable ??= 1;
    rollingUpdate.maxSurge ??= 0;
  }
  spec.revisionHistoryLimit ??= 10;
  applyPodTemplateDefaults(spec.template);
}

/** Returns the template generation, which was a spec field once and is now an annotation. */
function templateGeneration({ metadata }: DaemonSet): number {
  const generation = Number(metadata.annotations?.[TEMPLATE_GENERATION]);
  return Number.isSafeInteger(generation) ? generation : 0;
}

function setTemplateGeneration({ metadata }: DaemonSet, generation: number): void {
  metadata.annotations = { ...metadata.annotations, [TEMPLATE_GENERATION]: String(generation) };
}

function validateDaemonSet({ spec = emptySpec }: DaemonSet, errors: FieldErrors): void {
  const { template } = spec;
  // A client may omit the field, although its type is required.
  const selector: typeof spec.selector | undefined = spec.selector;
  const malformed = new FieldErrors();
  validateLabelSelector(selector, "spec.selector", malformed);
  for (const error of malformed.all) errors.add(error);
  if (malformed.isEmpty) validateMatch(selector, template, errors);
  if (selector !== undefined) validateNotEmpty(selector, "daemonset", errors);
  validateLongRunningTemplate(template, "DaemonSet", errors);
  validateNonNegative(spec.minReadySeconds, "spec.minReadySeconds", errors);
  validateStrategy(spec.updateStrategy ?? {}, errors);
  validateNonNegative(spec.revisionHistoryLimit, "spec.revisionHistoryLimit", errors);
}

function validateStrategy(
  strategy: NonNullable<NonNullable<DaemonSet["spec"]>["updateStrategy"]>,
  errors: FieldErrors,
): void {
  const { type, rollingUpdate } = strategy;
  const path = "spec.updateStrategy.rollingUpdate";
  if (type === undefined || !STRATEGIES.includes(type))
    errors.notSupported("spec.updateStrategy", internalForm("DaemonSetUpdateStrategy", strategy), STRATEGIES);
  else if (type === "OnDelete") return;
  else if (rollingUpdate === undefined) errors.required(path);
  else {
    const { maxUnavailable, maxSurge } = rollingUpdate;
    validateIntOrPercent(maxUnavailable, `${path}.maxUnavailable`, errors);
    validateIntOrPercent(maxSurge, `${path}.maxSurge`, errors);
    validateAtMost100Percent(maxUnavailable, `${path}.maxUnavailable`, errors);
    validateAtMost100Percent(maxSurge, `${path}.maxSurge`, errors);
    const hasUnavailable = intOrPercentValue(maxUnavailable) !== 0;
    const hasSurge = intOrPercentValue(maxSurge) !== 0;
    if (hasUnavailable && hasSurge)
      errors.invalid(`${path}.maxSurge`, maxSurge, "may not be set when maxUnavailable is non-zero");
    else if (!hasUnavailable && !hasSurge) errors.required(`${path}.maxUnavailable`, "cannot be 0 when maxSurge is 0");
  }
}

function validateStatus({ status = newStatus }: DaemonSet, stored: DaemonSet, errors: FieldErrors): void {
  validateCounts(
    status,
    [
      "currentNumberScheduled",
      "numberMisscheduled",
      "desiredNumberScheduled",
      "numberReady",
      "observedGeneration",
      "updatedNumberScheduled",
      "numberAvailable",
      "numberUnavailable",
      "collisionCount",
    ],
    errors,
  );
  validateCollisionCount(status, stored.status, errors);
}
