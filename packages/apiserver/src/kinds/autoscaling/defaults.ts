import type { HorizontalPodAutoscaler } from "@kubewright/api";

type Spec = HorizontalPodAutoscaler["spec"];
export type Metric = NonNullable<Spec["metrics"]>[number];
export type ScalingRules = NonNullable<NonNullable<Spec["behavior"]>["scaleUp"]>;

const DEFAULT_CPU_UTILIZATION = 80;
const DOUBLE = { type: "Percent", value: 100, periodSeconds: 15 } as const;
const FOUR_PODS = { type: "Pods", value: 4, periodSeconds: 15 } as const;

/** A metric for the average utilization of requested CPU, in percent. */
export function cpuMetric(averageUtilization = DEFAULT_CPU_UTILIZATION): Metric {
  return { type: "Resource", resource: { name: "cpu", target: { type: "Utilization", averageUtilization } } };
}

/** Upstream: `SetDefaults_HorizontalPodAutoscaler` and `SetDefaults_HorizontalPodAutoscalerBehavior` of `pkg/apis/autoscaling/v2`. */
export function applyAutoscalerDefaults(spec: Spec): void {
  spec.minReplicas ??= 1;
  if ((spec.metrics ?? []).length === 0) spec.metrics = [cpuMetric()];
  const { behavior } = spec;
  if (behavior === undefined) return;
  behavior.scaleUp = {
    stabilizationWindowSeconds: 0,
    selectPolicy: "Max",
    policies: [{ ...FOUR_PODS }, { ...DOUBLE }],
    ...behavior.scaleUp,
  };
  // No default window: the controller applies its own.
  behavior.scaleDown = { selectPolicy: "Max", policies: [{ ...DOUBLE }], ...behavior.scaleDown };
}
