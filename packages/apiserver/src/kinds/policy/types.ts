import type { TypeDeclarations } from "../../schema/type-declarations.js";
import { fields } from "./fields.js";

/** The types of policy/v1, except Evictions, which are not stored. */
export const policyTypes: TypeDeclarations = {
  fields,
  rules: {
    patchMergeKeys: { "PodDisruptionBudgetStatus.conditions": "type" },
    replacedObjects: new Set(["PodDisruptionBudgetSpec.selector"]),
    listTypes: { "PodDisruptionBudgetStatus.conditions": "type" },
    presentWhenZero: {
      "PodDisruptionBudget.spec": {},
      "PodDisruptionBudget.status": {},
      "PodDisruptionBudgetStatus.currentHealthy": 0,
      "PodDisruptionBudgetStatus.desiredHealthy": 0,
      "PodDisruptionBudgetStatus.disruptionsAllowed": 0,
      "PodDisruptionBudgetStatus.expectedPods": 0,
    },
    dropsZero: new Set(["PodDisruptionBudgetStatus.observedGeneration"]),
    keepsEmptyString: new Set(["PodDisruptionBudgetSpec.unhealthyPodEvictionPolicy"]),
  },
  fieldNumbers: {
    PodDisruptionBudget: "metadata,spec,status",
    PodDisruptionBudgetSpec: "minAvailable,selector,maxUnavailable,unhealthyPodEvictionPolicy",
    PodDisruptionBudgetStatus:
      "observedGeneration,disruptedPods,disruptionsAllowed,currentHealthy,desiredHealthy,expectedPods,conditions",
  },
};
