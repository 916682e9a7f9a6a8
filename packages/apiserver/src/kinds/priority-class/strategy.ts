import { type PriorityClass, priorityClasses } from "@kubewright/api";

import { builtInResource } from "../../built-in-resource.js";
import type { ResourceStrategy } from "../../strategy.js";
import { FIELD_IS_IMMUTABLE, validateSupported } from "../../validation/rules.js";
import { ageCell, table } from "../table-cells.js";
import { priorityAdmission } from "./admission.js";
import { isSystemName, systemNameProblem } from "./system-classes.js";
import { priorityClassTypes } from "./types.js";

const MAX_USER_PRIORITY = 1_000_000_000;
const PREEMPTION_POLICIES = ["PreemptLowerPriority", "Never"];

/** Upstream: `pkg/registry/scheduling/priorityclass`, `pkg/apis/scheduling/validation`. */
export const priorityClassStrategy: ResourceStrategy<PriorityClass> = {
  applyDefaults(priorityClass) {
    priorityClass.preemptionPolicy ??= "PreemptLowerPriority";
  },
  prepareForCreate({ metadata }) {
    metadata.generation = 1;
  },
  validateCreate(priorityClass, errors) {
    const { metadata, value = 0, preemptionPolicy } = priorityClass;
    if (isSystemName(metadata.name ?? "")) {
      const refusal = systemNameProblem(priorityClass);
      const reserved = "priority class names with 'system-' prefix are reserved for system use only";
      if (refusal !== undefined) errors.forbidden("metadata.name", `${reserved}. error: ${refusal}`);
    } else if (value > MAX_USER_PRIORITY)
      errors.forbidden("value", `maximum allowed value of a user defined priority is ${MAX_USER_PRIORITY}`);
    validateSupported(preemptionPolicy, PREEMPTION_POLICIES, "preemptionPolicy", errors);
  },
  validateUpdate(priorityClass, stored, errors) {
    if (priorityClass.value !== stored.value) errors.forbidden("value", "may not be changed in an update.");
    if (priorityClass.preemptionPolicy !== stored.preemptionPolicy)
      errors.invalid("preemptionPolicy", priorityClass.preemptionPolicy ?? null, FIELD_IS_IMMUTABLE);
  },
  printer: table<PriorityClass>({
    "Value:integer": ({ value = 0 }) => value,
    "Global-Default:boolean": ({ globalDefault }) => globalDefault ?? false,
    Age: ageCell,
    PreemptionPolicy: ({ preemptionPolicy }) => preemptionPolicy ?? "<unset>",
  }),
};

export const priorityClassResource = builtInResource<PriorityClass>({
  definition: priorityClasses,
  shortNames: ["pc"],
  types: priorityClassTypes,
  strategy: priorityClassStrategy,
  admission: priorityAdmission,
});
