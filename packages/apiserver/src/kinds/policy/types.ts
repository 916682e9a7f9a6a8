import type { TypeDeclarations } from "../../schema/type-declarations.js";

/** The types of policy/v1, except Evictions, which are not stored. */
export const policyTypes: TypeDeclarations = {
  fields: {
    PodDisruptionBudget:
      "metadata:ObjectMeta spec+:PodDisruptionBudgetSpec status+:PodDisruptionBudgetStatus | apiVersion kind",
    PodDisruptionBudgetSpec:
      "minAvailable:intOrString selector=:LabelSelector maxUnavailable:intOrString unhealthyPodEvictionPolicy*",
    PodDisruptionBudgetStatus:
      "observedGeneration?:int64 disruptedPods:{}time disruptionsAllowed+:int32 currentHealthy+:int32 desiredHealthy+:int32 expectedPods+:int32 conditions:[type]Condition",
  },
};
