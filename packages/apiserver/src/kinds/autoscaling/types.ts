import type { TypeDeclarations } from "../../schema/type-declarations.js";
import { fields } from "./fields.js";

const SOURCES = ["ContainerResource", "External", "Object", "Pods", "Resource"];

function forEachSource<T>(source: string, field: string, value: T): Record<string, T> {
  return Object.fromEntries(SOURCES.map((kind) => [`${kind}Metric${source}.${field}`, value]));
}

/** The types of autoscaling/v2, and the types of v1 that differ. */
export const autoscalingTypes: TypeDeclarations = {
  fields,
  kinds: { "autoscaling/v1/HorizontalPodAutoscaler": "V1HorizontalPodAutoscaler" },
  rules: {
    patchMergeKeys: { "HorizontalPodAutoscalerStatus.conditions": "type" },
    listTypes: { "HorizontalPodAutoscalerStatus.conditions": "type" },
    atomicTypes: new Set(["CrossVersionObjectReference"]),
    quantityFields: new Set([
      "MetricTarget.value",
      "MetricTarget.averageValue",
      "MetricValueStatus.value",
      "MetricValueStatus.averageValue",
      "HPAScalingRules.tolerance",
    ]),
    presentWhenZero: {
      "HorizontalPodAutoscaler.spec": {},
      "HorizontalPodAutoscaler.status": {},
      "HorizontalPodAutoscalerSpec.scaleTargetRef": {},
      "HorizontalPodAutoscalerSpec.maxReplicas": 0,
      "HorizontalPodAutoscalerStatus.desiredReplicas": 0,
      "HorizontalPodAutoscalerStatus.currentMetrics": null,
      "HorizontalPodAutoscalerCondition.type": "",
      "HorizontalPodAutoscalerCondition.status": "",
      "HorizontalPodAutoscalerCondition.lastTransitionTime": null,
      "CrossVersionObjectReference.kind": "",
      "CrossVersionObjectReference.name": "",
      "HPAScalingPolicy.type": "",
      "HPAScalingPolicy.value": 0,
      "HPAScalingPolicy.periodSeconds": 0,
      "MetricSpec.type": "",
      "MetricStatus.type": "",
      "MetricTarget.type": "",
      "MetricIdentifier.name": "",
      ...forEachSource("Source", "target", {}),
      ...forEachSource("Status", "current", {}),
      ...Object.fromEntries(
        ["External", "Object", "Pods"].flatMap((kind) => [
          [`${kind}MetricSource.metric`, {}],
          [`${kind}MetricStatus.metric`, {}],
        ]),
      ),
      ...Object.fromEntries(
        ["ContainerResource", "Resource"].flatMap((kind) => [
          [`${kind}MetricSource.name`, ""],
          [`${kind}MetricStatus.name`, ""],
        ]),
      ),
      "ContainerResourceMetricSource.container": "",
      "ContainerResourceMetricStatus.container": "",
      "ObjectMetricSource.describedObject": {},
      "ObjectMetricStatus.describedObject": {},
      "V1HorizontalPodAutoscaler.spec": {},
      "V1HorizontalPodAutoscaler.status": {},
      "V1HorizontalPodAutoscalerSpec.scaleTargetRef": {},
      "V1HorizontalPodAutoscalerSpec.maxReplicas": 0,
      "V1HorizontalPodAutoscalerStatus.currentReplicas": 0,
      "V1HorizontalPodAutoscalerStatus.desiredReplicas": 0,
    },
    dropsZero: new Set(["HorizontalPodAutoscalerStatus.currentReplicas"]),
    keepsEmptyString: new Set(["HPAScalingRules.selectPolicy"]),
    // An empty list of policies differs from an absent list.
    keepsEmptyCollection: new Set(["HPAScalingRules.policies", "HorizontalPodAutoscalerStatus.currentMetrics"]),
  },
  fieldNumbers: {
    HorizontalPodAutoscaler: "metadata,spec,status",
    HorizontalPodAutoscalerSpec: "scaleTargetRef,minReplicas,maxReplicas,metrics,behavior",
    HorizontalPodAutoscalerStatus:
      "observedGeneration,lastScaleTime,currentReplicas,desiredReplicas,currentMetrics,conditions",
    HorizontalPodAutoscalerCondition: "type,status,lastTransitionTime,reason,message",
    HorizontalPodAutoscalerBehavior: "scaleUp,scaleDown",
    HPAScalingRules: "selectPolicy,policies,stabilizationWindowSeconds,tolerance",
    HPAScalingPolicy: "type,value,periodSeconds",
    CrossVersionObjectReference: "kind,name,apiVersion",
    MetricSpec: "type,object,pods,resource,external,,containerResource",
    MetricStatus: "type,object,pods,resource,external,,containerResource",
    MetricIdentifier: "name,selector",
    MetricTarget: "type,value,averageValue,averageUtilization",
    MetricValueStatus: "value,averageValue,averageUtilization",
    ContainerResourceMetricSource: "name,target,container",
    ContainerResourceMetricStatus: "name,current,container",
    ExternalMetricSource: "metric,target",
    ExternalMetricStatus: "metric,current",
    ObjectMetricSource: "describedObject,target,metric",
    ObjectMetricStatus: "metric,current,describedObject",
    PodsMetricSource: "metric,target",
    PodsMetricStatus: "metric,current",
    ResourceMetricSource: "name,target",
    ResourceMetricStatus: "name,current",
    V1HorizontalPodAutoscaler: "metadata,spec,status",
    V1HorizontalPodAutoscalerSpec: "scaleTargetRef,minReplicas,maxReplicas,targetCPUUtilizationPercentage",
    V1HorizontalPodAutoscalerStatus:
      "observedGeneration,lastScaleTime,currentReplicas,desiredReplicas,currentCPUUtilizationPercentage",
  },
};
