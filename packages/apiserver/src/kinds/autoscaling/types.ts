import type { TypeDeclarations } from "../../schema/type-declarations.js";

/** The types of autoscaling/v2, and the types of v1 that differ. */
export const autoscalingTypes: TypeDeclarations = {
  fields: {
    HorizontalPodAutoscaler:
      "metadata:ObjectMeta spec!+:HorizontalPodAutoscalerSpec status+:HorizontalPodAutoscalerStatus | apiVersion kind",
    V1HorizontalPodAutoscaler:
      "metadata:ObjectMeta spec!+:V1HorizontalPodAutoscalerSpec status+:V1HorizontalPodAutoscalerStatus | apiVersion kind",
    HorizontalPodAutoscalerSpec:
      "scaleTargetRef!+:CrossVersionObjectReference minReplicas:int32 maxReplicas!+:int32 metrics:[]MetricSpec behavior:HorizontalPodAutoscalerBehavior",
    HorizontalPodAutoscalerStatus:
      "observedGeneration:int64 lastScaleTime:time currentReplicas?:int32 desiredReplicas!+:int32 currentMetrics+*:[]MetricStatus conditions:[type]HorizontalPodAutoscalerCondition",
    V1HorizontalPodAutoscalerSpec:
      "scaleTargetRef!+:CrossVersionObjectReference minReplicas:int32 maxReplicas!+:int32 targetCPUUtilizationPercentage:int32",
    V1HorizontalPodAutoscalerStatus:
      "observedGeneration:int64 lastScaleTime:time currentReplicas!+:int32 desiredReplicas!+:int32 currentCPUUtilizationPercentage:int32",
    HorizontalPodAutoscalerBehavior: "scaleUp:HPAScalingRules scaleDown:HPAScalingRules",
    MetricSpec:
      "type!+ object:ObjectMetricSource pods:PodsMetricSource resource:ResourceMetricSource external:ExternalMetricSource - containerResource:ContainerResourceMetricSource",
    CrossVersionObjectReference: "kind!+ name!+ apiVersion",
    HorizontalPodAutoscalerCondition: "type!+ status!+ lastTransitionTime+:time reason message",
    MetricStatus:
      "type!+ object:ObjectMetricStatus pods:PodsMetricStatus resource:ResourceMetricStatus external:ExternalMetricStatus - containerResource:ContainerResourceMetricStatus",
    // An empty list of policies differs from an absent list.
    HPAScalingRules: "selectPolicy* policies*:[]HPAScalingPolicy stabilizationWindowSeconds:int32 tolerance:quantity",
    ContainerResourceMetricSource: "name!+ target!+:MetricTarget container!+",
    ExternalMetricSource: "metric!+:MetricIdentifier target!+:MetricTarget",
    ObjectMetricSource: "describedObject!+:CrossVersionObjectReference target!+:MetricTarget metric!+:MetricIdentifier",
    PodsMetricSource: "metric!+:MetricIdentifier target!+:MetricTarget",
    ResourceMetricSource: "name!+ target!+:MetricTarget",
    ContainerResourceMetricStatus: "name!+ current!+:MetricValueStatus container!+",
    ExternalMetricStatus: "metric!+:MetricIdentifier current!+:MetricValueStatus",
    ObjectMetricStatus:
      "metric!+:MetricIdentifier current!+:MetricValueStatus describedObject!+:CrossVersionObjectReference",
    PodsMetricStatus: "metric!+:MetricIdentifier current!+:MetricValueStatus",
    ResourceMetricStatus: "name!+ current!+:MetricValueStatus",
    HPAScalingPolicy: "type!+ value!+:int32 periodSeconds!+:int32",
    MetricTarget: "type!+ value:quantity averageValue:quantity averageUtilization:int32",
    MetricIdentifier: "name!+ selector:LabelSelector",
    MetricValueStatus: "value:quantity averageValue:quantity averageUtilization:int32",
  },
  atomicTypes: new Set(["CrossVersionObjectReference"]),
  kinds: { "autoscaling/v1/HorizontalPodAutoscaler": "V1HorizontalPodAutoscaler" },
};
