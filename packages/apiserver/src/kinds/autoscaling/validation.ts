import { type HorizontalPodAutoscaler, parseQuantity } from "@kubewright/api";
import { dnsLabelErrors, pathSegmentErrors } from "@kubewright/api/validation";

import type { FieldErrors } from "../../field-errors.js";
import { validateNonNegative, validateRequired, validateSupported } from "../../validation/rules.js";
import type { Metric, ScalingRules } from "./defaults.js";

type Reference = HorizontalPodAutoscaler["spec"]["scaleTargetRef"];
type Target = NonNullable<Metric["resource"]>["target"];
type Policy = NonNullable<ScalingRules["policies"]>[number];

/** The metric sources in upstream's order. Upstream validates only the first source that is present. */
const SOURCES = ["object", "external", "pods", "resource", "containerResource"] as const;
const METRIC_TYPES = ["ContainerResource", "External", "Object", "Pods", "Resource"];
const TARGET_TYPES = ["Utilization", "Value", "AverageValue"];
const SELECT_POLICIES = ["Disabled", "Max", "Min"];
const POLICY_TYPES = ["Percent", "Pods"];
const MAX_WINDOW_SECONDS = 3600;
const MAX_PERIOD_SECONDS = 1800;

/** Upstream: `pkg/apis/autoscaling/validation`. */
export function validateAutoscaler({ spec }: HorizontalPodAutoscaler, errors: FieldErrors): void {
  const { minReplicas, maxReplicas, scaleTargetRef, metrics = [], behavior } = spec;
  if (minReplicas !== undefined && minReplicas < 1)
    errors.invalid("spec.minReplicas", minReplicas, "must be greater than or equal to 1");
  if (maxReplicas === 0) errors.required("spec.maxReplicas", "must be set and greater than 0");
  else if (maxReplicas < 1) errors.invalid("spec.maxReplicas", maxReplicas, "must be greater than or equal to 1");
  if (minReplicas !== undefined && maxReplicas < minReplicas)
    errors.invalid("spec.maxReplicas", maxReplicas, "must be greater than or equal to `minReplicas`");
  // ReplicationController is the only scalable kind without an API group.
  validateReference(scaleTargetRef, scaleTargetRef.kind === "ReplicationController", "spec.scaleTargetRef", errors);
  for (const [index, metric] of metrics.entries()) validateMetric(metric, `spec.metrics[${index}]`, errors);
  if (minReplicas === 0 && !metrics.some(({ type }) => type === "Object" || type === "External"))
    errors.forbidden(
      "spec.metrics",
      "must specify at least one Object or External metric to support scaling to zero replicas",
    );
  validateScalingRules(behavior?.scaleUp, "spec.behavior.scaleUp", errors);
  validateScalingRules(behavior?.scaleDown, "spec.behavior.scaleDown", errors);
}

export function validateAutoscalerStatus({ status }: HorizontalPodAutoscaler, errors: FieldErrors): void {
  validateNonNegative(status?.currentReplicas, "status.currentReplicas", errors);
  validateNonNegative(status?.desiredReplicas, "status.desiredReplicas", errors);
}

function validateReference(
  { apiVersion = "", kind, name }: Reference,
  mayBeCore: boolean,
  path: string,
  errors: FieldErrors,
): void {
  validateRequired(kind, pathSegmentErrors, `${path}.kind`, errors);
  validateRequired(name, pathSegmentErrors, `${path}.name`, errors);
  const [group = "", version, extra] = apiVersion.split("/");
  if (extra !== undefined)
    errors.invalid(`${path}.apiVersion`, apiVersion, `unexpected GroupVersion string: ${apiVersion}`);
  else if (!mayBeCore && (version === undefined || group === ""))
    errors.invalid(`${path}.apiVersion`, apiVersion, "apiVersion must specify API group");
}

function validateMetric(metric: Metric, path: string, errors: FieldErrors): void {
  const { type } = metric;
  const present = SOURCES.filter((source) => metric[source] !== undefined);
  if (type === "") errors.required(`${path}.type`, "must specify a metric source type");
  const isKnown = METRIC_TYPES.includes(type);
  if (!isKnown) errors.notSupported(`${path}.type`, type, METRIC_TYPES);
  if (present[0] !== undefined) validateSource(metric, present[0], `${path}.${present[0]}`, errors);
  const expected = `${type.charAt(0).toLowerCase()}${type.slice(1)}`;
  if (!isKnown) errors.notSupported(`${path}.type`, type, METRIC_TYPES);
  else if (!present.some((source) => source === expected))
    errors.required(`${path}.${expected}`, "must populate information for the given metric source");
  if (present.length < 2) return;
  for (const source of present)
    if (source !== expected) errors.forbidden(`${path}.${source}`, "must populate the given metric source only");
}

function validateSource(metric: Metric, source: (typeof SOURCES)[number], path: string, errors: FieldErrors): void {
  const { object, external, pods, resource, containerResource } = metric;
  const averageValue = `${path}.target.averageValue`;
  if (source === "object" && object !== undefined) {
    validateReference(object.describedObject, true, `${path}.describedObject`, errors);
    validateName(object.metric.name, path, errors);
    validateTarget(object.target, `${path}.target`, errors);
    if (object.target.value === undefined && object.target.averageValue === undefined)
      errors.required(averageValue, "must set either a target value or averageValue");
  }
  if (source === "external" && external !== undefined) {
    const { value, averageValue: average } = external.target;
    validateName(external.metric.name, path, errors);
    validateTarget(external.target, `${path}.target`, errors);
    if (value === undefined && average === undefined)
      errors.required(averageValue, "must set either a target value for metric or a per-pod target");
    if (value !== undefined && average !== undefined)
      errors.forbidden(`${path}.target.value`, "may not set both a target value for metric and a per-pod target");
  }
  if (source === "pods" && pods !== undefined) {
    validateName(pods.metric.name, path, errors);
    validateTarget(pods.target, `${path}.target`, errors);
    if (pods.target.averageValue === undefined)
      errors.required(averageValue, "must specify a positive target averageValue");
  }
  if (source === "resource" && resource !== undefined) validateResource(resource, path, errors);
  if (source === "containerResource" && containerResource !== undefined)
    validateResource(containerResource, path, errors, containerResource.container);
}

function validateName(name: string, path: string, errors: FieldErrors): void {
  validateRequired(name, pathSegmentErrors, `${path}.metric.name`, errors, "must specify a metric name");
}

/** @param container - The container, for a ContainerResource metric. */
function validateResource(
  { name, target }: NonNullable<Metric["resource"]>,
  path: string,
  errors: FieldErrors,
  container?: string,
): void {
  const { averageUtilization, averageValue } = target;
  if (name === "") errors.required(`${path}.name`, "must specify a resource name");
  if (container !== undefined)
    validateRequired(container, dnsLabelErrors, `${path}.container`, errors, "must specify a container");
  validateTarget(target, `${path}.target`, errors);
  if (averageUtilization === undefined && averageValue === undefined)
    errors.required(`${path}.target.averageUtilization`, "must set either a target raw value or a target utilization");
  if (averageUtilization !== undefined && averageValue !== undefined)
    errors.forbidden(`${path}.target.averageValue`, "may not set both a target raw value and a target utilization");
}

function validateTarget(
  { type, value, averageValue, averageUtilization }: Target,
  path: string,
  errors: FieldErrors,
): void {
  if (type === "") errors.required(`${path}.type`, "must specify a metric target type");
  if (!TARGET_TYPES.includes(type))
    errors.invalid(`${path}.type`, type, "must be either Utilization, Value, or AverageValue");
  if (value !== undefined && signOf(value) <= 0) errors.invalid(`${path}.value`, value, "must be positive");
  if (averageValue !== undefined && signOf(averageValue) <= 0)
    errors.invalid(`${path}.averageValue`, averageValue, "must be positive");
  if (averageUtilization !== undefined && averageUtilization < 1)
    errors.invalid(`${path}.averageUtilization`, averageUtilization, "must be greater than 0");
}

function signOf(quantity: string): number {
  const nanos = parseQuantity(quantity)?.nanos ?? 0n;
  return nanos > 0n ? 1 : nanos < 0n ? -1 : 0;
}

function validateScalingRules(rules: ScalingRules | undefined, path: string, errors: FieldErrors): void {
  if (rules === undefined) return;
  const { stabilizationWindowSeconds: seconds, selectPolicy, policies = [], tolerance } = rules;
  const window = `${path}.stabilizationWindowSeconds`;
  if (seconds !== undefined && seconds < 0) errors.invalid(window, seconds, "must be greater than or equal to zero");
  if (seconds !== undefined && seconds > MAX_WINDOW_SECONDS)
    errors.invalid(window, seconds, `must be less than or equal to ${MAX_WINDOW_SECONDS}`);
  validateSupported(selectPolicy, SELECT_POLICIES, `${path}.selectPolicy`, errors);
  if (policies.length === 0) errors.required(`${path}.policies`, "must specify at least one Policy");
  for (const [index, policy] of policies.entries()) validatePolicy(policy, `${path}.policies[${index}]`, errors);
  if (tolerance !== undefined && signOf(tolerance) < 0)
    errors.invalid(`${path}.tolerance`, tolerance, "must be greater than or equal to 0");
}

function validatePolicy({ type, value, periodSeconds }: Policy, path: string, errors: FieldErrors): void {
  validateSupported(type, POLICY_TYPES, `${path}.type`, errors);
  if (value <= 0) errors.invalid(`${path}.value`, value, "must be greater than zero");
  if (periodSeconds <= 0) errors.invalid(`${path}.periodSeconds`, periodSeconds, "must be greater than zero");
  if (periodSeconds > MAX_PERIOD_SECONDS)
    errors.invalid(`${path}.periodSeconds`, periodSeconds, `must be less than or equal to ${MAX_PERIOD_SECONDS}`);
}
