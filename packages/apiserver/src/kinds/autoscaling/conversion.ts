import type { HorizontalPodAutoscaler, HorizontalPodAutoscalerV1 } from "@kubewright/api";

import { type JsonObject, jsonEqual } from "../../json.js";
import { listOf, numberOf, objectOf, optional, quantityOf, readAnnotation, textOf } from "./annotations.js";
import { cpuMetric, type Metric } from "./defaults.js";

type Status = NonNullable<HorizontalPodAutoscaler["status"]>;
type Behavior = NonNullable<HorizontalPodAutoscaler["spec"]["behavior"]>;
type MetricStatus = NonNullable<Status["currentMetrics"]>[number];

const PREFIX = "autoscaling.alpha.kubernetes.io/";
const METRICS = `${PREFIX}metrics`;
const BEHAVIOR = `${PREFIX}behavior`;
const CURRENT_METRICS = `${PREFIX}current-metrics`;
const CONDITIONS = `${PREFIX}conditions`;
/** The annotations for fields that v1 does not have, by the part of the object they belong to. */
const ROUND_TRIP = { spec: [METRICS, BEHAVIOR], status: [CURRENT_METRICS, CONDITIONS] };

const EMPTY_SPEC: HorizontalPodAutoscalerV1["spec"] = { scaleTargetRef: { kind: "", name: "" }, maxReplicas: 0 };

/** Converts a stored autoscaler to v1. Upstream: `pkg/apis/autoscaling/v1/conversion.go`. */
export function toV1(autoscaler: HorizontalPodAutoscaler): HorizontalPodAutoscalerV1 {
  const { spec, status, ...others } = autoscaler;
  const { metrics = [], behavior, ...specRest } = spec;
  const cpu = metrics.find(isCpuUtilization)?.resource?.target.averageUtilization;
  const otherMetrics = metrics.filter((metric) => !isCpuUtilization(metric)).map(metricToV1);
  const result: HorizontalPodAutoscalerV1 = {
    ...others,
    metadata: withAnnotations(others.metadata, {
      [METRICS]: otherMetrics.length === 0 ? undefined : JSON.stringify(otherMetrics),
      [BEHAVIOR]: behavior === undefined ? undefined : JSON.stringify(behaviorToGo(behavior)),
      ...statusAnnotations(status),
    }),
    spec: { ...specRest, ...(cpu === undefined ? {} : { targetCPUUtilizationPercentage: cpu }) },
  };
  if (autoscaler.apiVersion !== undefined) result.apiVersion = "autoscaling/v1";
  if (status !== undefined) result.status = statusToV1(status);
  return result;
}

function statusAnnotations(status: Status | undefined): Record<string, string | undefined> {
  const current = status?.currentMetrics ?? [];
  const conditions = status?.conditions ?? [];
  return {
    [CURRENT_METRICS]: current.length === 0 ? undefined : JSON.stringify(current.map(metricStatusToV1)),
    [CONDITIONS]: conditions.length === 0 ? undefined : JSON.stringify(conditions),
  };
}

function statusToV1(status: Status): NonNullable<HorizontalPodAutoscalerV1["status"]> {
  const { currentMetrics, conditions: _conditions, currentReplicas = 0, ...rest } = status;
  const cpu = (currentMetrics ?? []).find(({ type, resource }) => type === "Resource" && resource?.name === "cpu");
  const utilization = cpu?.resource?.current.averageUtilization;
  return {
    ...rest,
    currentReplicas,
    ...(utilization === undefined ? {} : { currentCPUUtilizationPercentage: utilization }),
  };
}

/** Converts a v1 autoscaler to its stored form. Invalid annotations count as absent metrics, as upstream. */
export function fromV1(autoscaler: HorizontalPodAutoscalerV1): HorizontalPodAutoscaler {
  const { metadata, spec: given, status, ...others } = autoscaler;
  const spec = (given as typeof given | undefined) ?? EMPTY_SPEC;
  const { targetCPUUtilizationPercentage: target, ...specRest } = spec;
  const annotations = metadata.annotations ?? {};
  const otherMetrics = readAnnotation(annotations[METRICS], (value) => listOf(value).map(metricFromV1)) ?? [];
  const metrics = [...otherMetrics, ...(target === undefined ? [] : [cpuMetric(target)])];
  const behavior = readAnnotation(annotations[BEHAVIOR], behaviorFromGo);
  const result: HorizontalPodAutoscaler = {
    ...others,
    metadata: withAnnotations(metadata, {
      [METRICS]: undefined,
      [BEHAVIOR]: undefined,
      [CURRENT_METRICS]: undefined,
      [CONDITIONS]: undefined,
    }),
    spec: {
      ...specRest,
      metrics: metrics.length === 0 ? [cpuMetric()] : metrics,
      ...(behavior === undefined ? {} : { behavior }),
    },
  };
  if (autoscaler.apiVersion !== undefined) result.apiVersion = "autoscaling/v2";
  if (status !== undefined) result.status = statusFromV1(status, annotations);
  return result;
}

function statusFromV1(
  status: NonNullable<HorizontalPodAutoscalerV1["status"]>,
  annotations: Readonly<Record<string, string>>,
): Status {
  const { currentCPUUtilizationPercentage: cpu, currentReplicas, ...rest } = status;
  const annotatedMetrics = readAnnotation(annotations[CURRENT_METRICS], (value) =>
    listOf(value).map(metricStatusFromV1),
  );
  const cpuMetrics: MetricStatus[] | null =
    cpu === undefined ? null : [{ type: "Resource", resource: { name: "cpu", current: { averageUtilization: cpu } } }];
  const conditions = readAnnotation(annotations[CONDITIONS], (value) => listOf(value).map(conditionOf));
  return {
    ...rest,
    ...(currentReplicas === 0 ? {} : { currentReplicas }),
    currentMetrics: (annotatedMetrics ?? cpuMetrics) as MetricStatus[],
    ...(conditions === undefined ? {} : { conditions }),
  };
}

/**
 * Restores the annotations of one part from the stored object, because a writer who may not change the part may not
 * change its annotations.
 */
export function restoreRoundTripAnnotations(
  autoscaler: HorizontalPodAutoscalerV1,
  stored: HorizontalPodAutoscalerV1 | undefined,
  part: keyof typeof ROUND_TRIP,
): void {
  const before = stored?.metadata.annotations ?? {};
  const restored = Object.fromEntries(ROUND_TRIP[part].map((name) => [name, before[name]]));
  const { annotations } = withAnnotations(autoscaler.metadata, restored);
  if (jsonEqual(annotations, autoscaler.metadata.annotations)) return;
  if (annotations === undefined) delete autoscaler.metadata.annotations;
  else autoscaler.metadata.annotations = annotations;
}

/** Returns a copy with the changed annotations. An `undefined` value removes the annotation. */
function withAnnotations<T extends { annotations?: Record<string, string> }>(
  metadata: T,
  changes: Readonly<Record<string, string | undefined>>,
): T {
  const remaining = Object.entries({ ...metadata.annotations, ...changes }).filter(([, value]) => value !== undefined);
  const { annotations: _former, ...rest } = metadata;
  return (remaining.length === 0 ? rest : { ...metadata, annotations: Object.fromEntries(remaining) }) as T;
}

function isCpuUtilization({ type, resource }: Metric): boolean {
  return type === "Resource" && resource?.name === "cpu" && resource.target.averageUtilization !== undefined;
}

/** Converts a metric with fields in the order of v1's Go type, because annotations are compared as text. */
function metricToV1({ type, object, pods, resource, containerResource, external }: Metric): JsonObject {
  return withoutUndefined({
    type,
    object: object && {
      target: object.describedObject,
      metricName: object.metric.name,
      targetValue: object.target.value ?? "0",
      selector: object.metric.selector,
      averageValue: object.target.averageValue,
    },
    pods: pods && {
      metricName: pods.metric.name,
      targetAverageValue: pods.target.averageValue ?? "0",
      selector: pods.metric.selector,
    },
    resource: resource && {
      name: resource.name,
      targetAverageUtilization: resource.target.averageUtilization,
      targetAverageValue: resource.target.averageValue,
    },
    containerResource: containerResource && {
      name: containerResource.name,
      targetAverageUtilization: containerResource.target.averageUtilization,
      targetAverageValue: containerResource.target.averageValue,
      container: containerResource.container,
    },
    external: external && {
      metricName: external.metric.name,
      metricSelector: external.metric.selector,
      targetValue: external.target.value,
      targetAverageValue: external.target.averageValue,
    },
  });
}

function metricStatusToV1(status: MetricStatus): JsonObject {
  const { type, object, pods, resource, containerResource, external } = status;
  return withoutUndefined({
    type,
    object: object && {
      target: object.describedObject,
      metricName: object.metric.name,
      currentValue: object.current.value ?? "0",
      selector: object.metric.selector,
      averageValue: object.current.averageValue,
    },
    pods: pods && {
      metricName: pods.metric.name,
      currentAverageValue: pods.current.averageValue ?? "0",
      selector: pods.metric.selector,
    },
    resource: resource && {
      name: resource.name,
      currentAverageUtilization: resource.current.averageUtilization,
      currentAverageValue: resource.current.averageValue ?? "0",
    },
    containerResource: containerResource && {
      name: containerResource.name,
      currentAverageUtilization: containerResource.current.averageUtilization,
      currentAverageValue: containerResource.current.averageValue ?? "0",
      container: containerResource.container,
    },
    external: external && {
      metricName: external.metric.name,
      metricSelector: external.metric.selector,
      currentValue: external.current.value ?? "0",
      currentAverageValue: external.current.averageValue,
    },
  });
}

function metricFromV1(value: unknown): Metric {
  const metric = objectOf(value);
  const object = optional(metric["object"], objectOf);
  const pods = optional(metric["pods"], objectOf);
  const resource = optional(metric["resource"], objectOf);
  const containerResource = optional(metric["containerResource"], objectOf);
  const external = optional(metric["external"], objectOf);
  return withoutUndefined({
    type: textOf(metric["type"]),
    object: object && {
      describedObject: referenceOf(object["target"]),
      metric: identifier(object["metricName"], object["selector"]),
      target: valueTarget(object["targetValue"], object["averageValue"]),
    },
    pods: pods && {
      metric: identifier(pods["metricName"], pods["selector"]),
      target: { type: "AverageValue", averageValue: optional(pods["targetAverageValue"], quantityOf) },
    },
    resource: resource && { name: textOf(resource["name"]), target: utilizationTarget(resource) },
    containerResource: containerResource && {
      name: textOf(containerResource["name"]),
      container: textOf(containerResource["container"]),
      target: utilizationTarget(containerResource),
    },
    external: external && {
      metric: identifier(external["metricName"], external["metricSelector"]),
      target: valueTarget(external["targetValue"], external["targetAverageValue"]),
    },
  }) as unknown as Metric;
}

function metricStatusFromV1(value: unknown): MetricStatus {
  const metric = objectOf(value);
  const object = optional(metric["object"], objectOf);
  const pods = optional(metric["pods"], objectOf);
  const resource = optional(metric["resource"], objectOf);
  const containerResource = optional(metric["containerResource"], objectOf);
  const external = optional(metric["external"], objectOf);
  return withoutUndefined({
    type: textOf(metric["type"]),
    object: object && {
      describedObject: referenceOf(object["target"]),
      metric: identifier(object["metricName"], object["selector"]),
      current: currentValues(object["currentValue"], object["averageValue"]),
    },
    pods: pods && {
      metric: identifier(pods["metricName"], pods["selector"]),
      current: currentValues(undefined, pods["currentAverageValue"]),
    },
    resource: resource && { name: textOf(resource["name"]), current: currentUtilization(resource) },
    containerResource: containerResource && {
      name: textOf(containerResource["name"]),
      container: textOf(containerResource["container"]),
      current: currentUtilization(containerResource),
    },
    external: external && {
      metric: identifier(external["metricName"], external["metricSelector"]),
      current: currentValues(external["currentValue"], external["currentAverageValue"]),
    },
  }) as unknown as MetricStatus;
}

function conditionOf(value: unknown): NonNullable<Status["conditions"]>[number] {
  const { type, status, lastTransitionTime, reason, message } = objectOf(value);
  return withoutUndefined({
    type: textOf(type),
    status: textOf(status),
    lastTransitionTime: optional(lastTransitionTime, textOf) ?? null,
    reason: optional(reason, textOf),
    message: optional(message, textOf),
  }) as unknown as NonNullable<Status["conditions"]>[number];
}

/** Creates a target. v1 always writes a value of 0 next to an average value; such a value is dropped. */
function valueTarget(value: unknown, averageValue: unknown): JsonObject {
  const average = optional(averageValue, quantityOf);
  const total = optional(value, quantityOf);
  return {
    type: average === undefined ? "Value" : "AverageValue",
    value: average !== undefined && total === "0" ? undefined : total,
    averageValue: average,
  };
}

function utilizationTarget({ targetAverageUtilization, targetAverageValue }: JsonObject): JsonObject {
  const averageUtilization = optional(targetAverageUtilization, numberOf);
  return {
    type: averageUtilization === undefined ? "AverageValue" : "Utilization",
    averageUtilization,
    averageValue: optional(targetAverageValue, quantityOf),
  };
}

function currentValues(value: unknown, averageValue: unknown): JsonObject {
  return { value: optional(value, quantityOf), averageValue: optional(averageValue, quantityOf) };
}

function currentUtilization({ currentAverageUtilization, currentAverageValue }: JsonObject): JsonObject {
  return {
    averageUtilization: optional(currentAverageUtilization, numberOf),
    averageValue: optional(currentAverageValue, quantityOf),
  };
}

function identifier(name: unknown, selector: unknown): JsonObject {
  return { name: optional(name, textOf) ?? "", selector: optional(selector, objectOf) };
}

function referenceOf(value: unknown): JsonObject {
  const { kind, name, apiVersion } = objectOf(value);
  return { kind: textOf(kind), name: textOf(name), apiVersion: optional(apiVersion, textOf) };
}

/** Upstream writes the behavior with the field names of its internal Go types. */
function behaviorToGo(behavior: Behavior): JsonObject {
  const rules = (given: NonNullable<typeof behavior.scaleUp> | undefined): JsonObject | null =>
    given === undefined
      ? null
      : {
          StabilizationWindowSeconds: given.stabilizationWindowSeconds ?? null,
          SelectPolicy: given.selectPolicy ?? null,
          Policies: (given.policies ?? []).map(({ type, value, periodSeconds }) => ({
            Type: type,
            Value: value,
            PeriodSeconds: periodSeconds,
          })),
          Tolerance: given.tolerance ?? null,
        };
  return { ScaleUp: rules(behavior.scaleUp), ScaleDown: rules(behavior.scaleDown) };
}

function behaviorFromGo(value: unknown): Behavior {
  const { ScaleUp, ScaleDown } = objectOf(value);
  const rules = (given: unknown): JsonObject => {
    const { StabilizationWindowSeconds, SelectPolicy, Policies, Tolerance } = objectOf(given);
    return {
      stabilizationWindowSeconds: optional(StabilizationWindowSeconds, numberOf),
      selectPolicy: optional(SelectPolicy, textOf),
      policies: optional(Policies, listOf)?.map((policy) => {
        const { Type, Value, PeriodSeconds } = objectOf(policy);
        return { type: textOf(Type), value: numberOf(Value), periodSeconds: numberOf(PeriodSeconds) };
      }),
      tolerance: optional(Tolerance, quantityOf),
    };
  };
  return withoutUndefined({ scaleUp: optional(ScaleUp, rules), scaleDown: optional(ScaleDown, rules) });
}

/** Returns a deep copy without `undefined` members. */
function withoutUndefined(value: JsonObject): JsonObject {
  return JSON.parse(JSON.stringify(value)) as JsonObject;
}
