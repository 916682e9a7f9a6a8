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
  const otherMetrics = metrics.filter((metric) => !isCpuUtilization(metric));
  const result: HorizontalPodAutoscalerV1 = {
    ...others,
    metadata: withAnnotations(others.metadata, {
      [METRICS]: metricsText(otherMetrics, METRIC_SOURCES),
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
  const conditions = status?.conditions ?? [];
  return {
    [CURRENT_METRICS]: metricsText(status?.currentMetrics ?? [], STATUS_SOURCES),
    [CONDITIONS]: conditions.length === 0 ? undefined : JSON.stringify(conditions),
  };
}

function metricsText(metrics: readonly (Metric | MetricStatus)[], sources: typeof METRIC_SOURCES): string | undefined {
  return metrics.length === 0 ? undefined : JSON.stringify(metrics.map((metric) => metricToV1(metric, sources)));
}

/** Reads an annotation with a list of metrics. The annotation has the form that {@link metricToV1} writes. */
function readMetrics(text: string | undefined, sources: typeof METRIC_SOURCES): JsonObject[] | undefined {
  return readAnnotation(text, (value) => listOf(value).map((metric) => metricFromV1(metric, sources)));
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
  const otherMetrics = (readMetrics(annotations[METRICS], METRIC_SOURCES) ?? []) as unknown as Metric[];
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
  const annotatedMetrics = readMetrics(annotations[CURRENT_METRICS], STATUS_SOURCES);
  const cpuMetrics: MetricStatus[] | null =
    cpu === undefined ? null : [{ type: "Resource", resource: { name: "cpu", current: { averageUtilization: cpu } } }];
  const conditions = readAnnotation(annotations[CONDITIONS], (value) => listOf(value).map(conditionOf));
  return {
    ...rest,
    ...(currentReplicas === 0 ? {} : { currentReplicas }),
    currentMetrics: (annotatedMetrics ?? cpuMetrics) as unknown as MetricStatus[],
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

/**
 * A field of a metric's source: its name in v1, its path in v2, and how it is read. A field with a zero value is
 * written even when v2 has no value.
 */
type SourceField = readonly [name: string, path: string, read: (value: unknown) => unknown, zero?: string | undefined];

/**
 * The sources of a metric and of its status. Their fields have the order of v1's Go types, because annotations are
 * compared as text.
 */
const METRIC_SOURCES = metricSources("target");
const STATUS_SOURCES = metricSources("current");

/** @param side - The member of v2's sources that has the amounts. */
function metricSources(side: "target" | "current"): Readonly<Record<string, readonly SourceField[]>> {
  const zeroOfStatus = side === "current" ? "0" : undefined;
  const metricName: SourceField = ["metricName", "metric.name", (value) => optional(value, textOf) ?? ""];
  const selector = (name: string): SourceField => [name, "metric.selector", (value) => optional(value, objectOf)];
  const amount = (name: string, member: string, zero?: string): SourceField => [
    name,
    `${side}.${member}`,
    (value) => optional(value, quantityOf),
    zero,
  ];
  const resource: readonly SourceField[] = [
    ["name", "name", textOf],
    [`${side}AverageUtilization`, `${side}.averageUtilization`, (value) => optional(value, numberOf)],
    amount(`${side}AverageValue`, "averageValue", zeroOfStatus),
  ];
  return {
    object: [
      ["target", "describedObject", referenceOf],
      metricName,
      amount(`${side}Value`, "value", "0"),
      selector("selector"),
      amount("averageValue", "averageValue"),
    ],
    pods: [metricName, amount(`${side}AverageValue`, "averageValue", "0"), selector("selector")],
    resource,
    containerResource: [...resource, ["container", "container", textOf]],
    external: [
      metricName,
      selector("metricSelector"),
      amount(`${side}Value`, "value", zeroOfStatus),
      amount(`${side}AverageValue`, "averageValue"),
    ],
  };
}

/** Converts a metric, or the status of one. Absent members are `undefined`. */
function metricToV1(metric: Metric | MetricStatus, sources: typeof METRIC_SOURCES): JsonObject {
  const { type, ...given } = metric as unknown as JsonObject;
  const result: JsonObject = { type };
  for (const [source, fields] of Object.entries(sources)) {
    if (given[source] === undefined) continue;
    const valueAt = (path: string): unknown =>
      path.split(".").reduce((value, member) => (value as JsonObject | undefined)?.[member], given[source]);
    result[source] = Object.fromEntries(fields.map(([name, path, , zero]) => [name, valueAt(path) ?? zero]));
  }
  return result;
}

function metricFromV1(value: unknown, sources: typeof METRIC_SOURCES): JsonObject {
  const given = objectOf(value);
  const result: JsonObject = { type: textOf(given["type"]) };
  for (const [source, fields] of Object.entries(sources)) {
    const members = optional(given[source], objectOf);
    if (members === undefined) continue;
    const flat: JsonObject = {};
    const nested: Record<string, JsonObject> = {};
    for (const [name, path, read] of fields) {
      const [outer = "", inner] = path.split(".");
      if (inner === undefined) flat[outer] = read(members[name]);
      else (nested[outer] ??= {})[inner] = read(members[name]);
    }
    if (nested["target"] !== undefined) nested["target"] = withTargetType(source, nested["target"]);
    result[source] = { ...flat, ...nested };
  }
  return withoutUndefined(result);
}

/** Adds the type of a target. v1 always writes a value of 0 next to an average value; such a value is dropped. */
function withTargetType(source: string, { value, ...averages }: JsonObject): JsonObject {
  const { averageUtilization, averageValue } = averages;
  const hasTotal = source === "object" || source === "external";
  return {
    type:
      averageUtilization !== undefined
        ? "Utilization"
        : hasTotal && averageValue === undefined
          ? "Value"
          : "AverageValue",
    value: averageValue !== undefined && value === "0" ? undefined : value,
    ...averages,
  };
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
